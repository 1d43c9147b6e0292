import Gate
import Glibc
import Testing

@testable import Preferences

/// The fixtures that the schemas are checked with: the decoder reads the good ones and refuses the
/// bad ones, so that contract and code cannot say different things.
@Suite struct ContractTests {
  private static let fixtures: JSONValue = {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(root)/Tests/contracts/fixtures.json"
    guard let file = fopen(path, "rb") else { fatalError("cannot open \(path)") }
    defer { fclose(file) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
      text += chunk[..<count]
    }
    return text.withUnsafeBytes { try! JSONValue($0) }
  }()

  private static func fixtures(_ record: String, _ kind: String) -> [String] {
    guard case .array(let all)? = member(member(fixtures, record), kind), !all.isEmpty else {
      fatalError("no \(kind) fixtures of \(record)")
    }
    return all.map(text)
  }

  private static func member(_ value: JSONValue?, _ name: String) -> JSONValue? {
    guard case .object(let members)? = value else { return nil }
    return members.first { $0.name == name }?.value
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .object(let members):
      var object = JSONObject()
      for member in members { object.add(member.name, raw: text(member.value)) }
      return object.text
    case .array(let elements): return JSONObject.array(elements.map(text))
    case .string(let string): return JSONObject.quoted(string)
    default: return value.text
    }
  }

  @Test func goodEventsAreRead() throws {
    for event in Self.fixtures("preference-event", "good") {
      do {
        _ = try EventDecoder.decode(event)
      } catch {
        Issue.record("\(error.description): \(event)")
      }
    }
  }

  @Test func badEventsAreRefused() {
    for event in Self.fixtures("preference-event", "bad") {
      #expect(throws: EventFault.self, "\(event)") { try EventDecoder.decode(event) }
    }
  }

  /// The first fixtures of the audit are what is written of these events.
  @Test func auditRecordsAreAsTheFixtures() {
    let refusal = testMachine.apply(
      PreferenceEvent(
        eventID: "e-1", userID: "u-1", atMs: at(1), source: .inAppSettings,
        body: .choiceSet(.device("d-1"), .security, .userOff)), to: KnownState(), nowMs: testNow)
    let change = testMachine.apply(
      DefaultEvent(
        eventID: "e-2", atMs: at(1), category: .social,
        value: CategoryDefault(isOn: true, isOnWhereRegulated: false)), to: DefaultsState(),
      nowMs: at(1))
    var rows = refusal.rows + change.rows
    for index in rows.indices { rows[index].sequence = Int64(7 + index) }
    #expect(
      rows.map { row in AuditDocument.text(row) { "<\($0)>" } }
        == Self.fixtures("preference-audit", "good"))
  }
}
