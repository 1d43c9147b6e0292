/// What the operator decides: per category the quiet-hours rule, the default, the lawful basis; the
/// registry of events; what passes what; the limits. Immutable once read, its version in every
/// record (requirements L2).
///
/// `@unchecked`: everything it points at is written before `init` returns and never after.
public final class Policy: @unchecked Sendable {
  public let version: String
  /// Where neither a device nor its account names a zone.
  public let fallbackTimezone: String
  /// The moments of value at which the system's permission prompt may be shown (requirements P1).
  public let promptMoments: [String]
  private let mutableSubtypes: [[String]]
  let rules: Rules
  private let staleSecondsMax: [Int64?]

  /// What a decision looks at. Bit or element `c` is the category's of that raw value.
  struct Rules {
    var version: Bytes
    var quietHours: SIMD4<UInt8>
    var dropsOnInvalidWindow: UInt8
    var consentBasis: UInt8
    var defaultOn: UInt8
    var regulatedDefaultOn: UInt8
    /// By suppression.
    var suppressionBlocks: SIMD4<UInt8>
    var names: NameTable
    /// By region code; the unknown region is regulated.
    var regulated: UnsafePointer<Bool>
    var payloadBytesMax: Int
    var recordBytesMax: Int
    var holdMaxMs: Int64
    var duplicatesHorizonMs: Int64
    /// Of the whole topic; each partition has its share.
    var duplicatesEntriesMax: Int
    /// Those of category `c` are `capCounts[c]`, from `capStarts[c]` on.
    var caps: UnsafePointer<Cap>
    var capStarts: SIMD4<UInt8>
    var capCounts: SIMD4<UInt8>
    /// Of the whole topic; each partition has its share.
    var capsEntriesMax: Int
    /// The longest window.
    var capsWindowMs: Int64
    /// How long a counted notification is remembered.
    var capsMemoryMs: Int64

    @inline(__always)
    func isCapped(_ category: Category) -> Bool { capCounts[Int(category.rawValue)] != 0 }

    @inline(__always)
    func isRegulated(_ region: Region) -> Bool { regulated[Int(region.code)] }
  }

  /// What happens inside a quiet window (requirements Q2).
  enum QuietHoursRule: UInt8 {
    case drop, `defer`, bypass
  }

  /// Reads a policy. Throws with the key, the value and what to write instead.
  public convenience init(json: UnsafeRawBufferPointer) throws(PolicyError) {
    self.init(try PolicyParser.parse(json))
  }

  public static let builtIn: Policy = {
    do throws(PolicyError) {
      let text = BuiltInPolicy.json
      return try Policy(
        json: Bytes(start: text.utf8Start, count: text.utf8CodeUnitCount))
    } catch {
      preconditionFailure("the built-in policy: \(error.description)")
    }
  }()

  /// Seconds that the preferences may be behind before a lane pauses; nil: it never does.
  public func preferencesStaleSecondsMax(_ lane: Lane) -> Int64? {
    staleSecondsMax[Int(lane.rawValue)]
  }

  /// The subtypes of a category that a user can mute alone (requirements C2).
  public func mutableSubtypes(_ category: Category) -> [String] {
    mutableSubtypes[Int(category.rawValue)]
  }

  /// Whether any category has a cap.
  public var hasCaps: Bool { rules.capCounts != SIMD4<UInt8>() }

  /// Whether a category has one.
  public func hasCap(on category: Category) -> Bool { rules.isCapped(category) }

  init(_ document: PolicyDocument) {
    version = document.version
    fallbackTimezone = document.fallbackTimezone
    staleSecondsMax = document.staleSecondsMax
    promptMoments = document.promptMoments
    mutableSubtypes = document.categories.map(\.mutableSubtypes)

    let regulated = UnsafeMutablePointer<Bool>.allocate(capacity: Region.codeCount)
    regulated.initialize(repeating: false, count: Region.codeCount)
    regulated[Int(Region.unknown.code)] = true
    for region in document.regulatedRegions { regulated[Int(region.code)] = true }

    func bits(_ holds: (PolicyDocument.CategoryRules) -> Bool) -> UInt8 {
      document.categories.indices.reduce(0) {
        $0 | (holds(document.categories[$1]) ? 1 << UInt8($1) : 0)
      }
    }
    var quietHours = SIMD4<UInt8>()
    var blocks = SIMD4<UInt8>()
    for i in 0..<4 { quietHours[i] = document.categories[i].quietHours.rawValue }
    for (i, mask) in document.suppressionBlocks.enumerated() { blocks[i] = mask }

    let caps = document.categories.flatMap(\.caps)
    let capCopies = UnsafeMutablePointer<Cap>.allocate(capacity: max(1, caps.count))
    for (i, cap) in caps.enumerated() {
      (capCopies + i).initialize(
        to: Cap(
          name: Self.copy(cap.name), count: cap.count, style: cap.style, windowMs: cap.windowMs))
    }
    var capStarts = SIMD4<UInt8>()
    var capCounts = SIMD4<UInt8>()
    for i in 0..<4 {
      capCounts[i] = UInt8(document.categories[i].caps.count)
      if i > 0 { capStarts[i] = capStarts[i - 1] + capCounts[i - 1] }
    }
    let capsWindowMs = caps.reduce(0) { max($0, $1.memoryMs) }

    rules = Rules(
      version: Self.copy(document.version),
      quietHours: quietHours,
      dropsOnInvalidWindow: bits(\.dropsOnInvalidWindow),
      consentBasis: bits(\.consentBasis),
      defaultOn: bits(\.defaultOn),
      regulatedDefaultOn: bits(\.regulatedDefaultOn),
      suppressionBlocks: blocks,
      names: NameTable(document.names),
      regulated: UnsafePointer(regulated),
      payloadBytesMax: document.payloadBytesMax,
      recordBytesMax: document.recordBytesMax,
      holdMaxMs: document.holdHoursMax * Instant.hourMs,
      duplicatesHorizonMs: document.duplicatesHorizonHours * Instant.hourMs,
      duplicatesEntriesMax: document.duplicatesEntriesMax,
      caps: UnsafePointer(capCopies), capStarts: capStarts, capCounts: capCounts,
      capsEntriesMax: document.capsEntriesMax, capsWindowMs: capsWindowMs,
      capsMemoryMs: max(capsWindowMs, document.duplicatesHorizonHours * Instant.hourMs))
  }

  /// For the life of the process: policies are read once.
  private static func copy(_ text: String) -> Bytes {
    let utf8 = Array(text.utf8)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: utf8.count, alignment: 1)
    copy.copyBytes(from: utf8)
    return Bytes(copy)
  }
}

/// A policy that is refused: names the key, the value and what to write instead.
public struct PolicyError: Error, CustomStringConvertible {
  public var description: String
}
