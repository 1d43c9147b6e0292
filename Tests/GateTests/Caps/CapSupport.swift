@testable import Gate

/// Policies with caps, and lanes that count.
enum CapSupport {
  static let hourMs: Int64 = 3_600_000
  static let dayMs: Int64 = 24 * hourMs

  /// The built-in policy with caps, and perhaps other changes.
  static func policy(
    transactional: String = "[]", social: String = "[]", marketing: String = "[]",
    edit: (String) -> String = { $0 }
  ) -> Policy {
    let pieces = String(decoding: repositoryFile("deploy/policy.json"), as: UTF8.self)
      .components(separatedBy: #""caps": []"#)
    precondition(pieces.count == 5)
    // In the order of the file.
    let caps = [transactional, "[]", social, marketing]
    var text = pieces[0]
    for (cap, piece) in zip(caps, pieces[1...]) { text += #""caps": \#(cap)"# + piece }
    return withBytes(edit(text)) { try! Policy(json: $0) }
  }

  static func daily(_ count: Int, _ name: String = "daily") -> String {
    #"{"name":"\#(name)","count":\#(count),"style":"calendar_day"}"#
  }

  static func sliding(_ count: Int, seconds: Int64, _ name: String = "burst") -> String {
    #"{"name":"\#(name)","count":\#(count),"style":"sliding","window_seconds":\#(seconds)}"#
  }

  static func cap(_ count: Int, windowMs: Int64?) -> Cap {
    Cap(
      name: Bytes(start: nil, count: 0), count: count,
      style: windowMs == nil ? .calendarDay : .sliding, windowMs: windowMs ?? 0)
  }

  /// Entries at these instants.
  static func entries(_ instants: [Int64]) -> [CapEntry] {
    instants.enumerated().map {
      CapEntry(id: UInt64($0.offset), atMs: $0.element, devices: 0, state: .accepted)
    }
  }
}

extension String {
  /// Without Foundation.
  fileprivate func components(separatedBy separator: String) -> [String] {
    split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }
}
