/// Some of the four categories.
public struct CategorySet: Equatable, Sendable {
  private var bits: UInt8 = 0

  public init() {}

  public init(_ categories: some Sequence<Category>) {
    for category in categories { insert(category) }
  }

  public var isEmpty: Bool { bits == 0 }

  public func contains(_ category: Category) -> Bool { bits >> category.rawValue & 1 != 0 }

  public func subtracting(_ others: CategorySet) -> CategorySet {
    var left = self
    left.bits &= ~others.bits
    return left
  }

  public mutating func insert(_ category: Category) { bits |= 1 << category.rawValue }
}
