import Testing

@testable import Gate

/// `Tests/cases/decisions.jsonl`, by the rules of `run_cases.py`: an output per expectation, in
/// order, with at least the members named there.
@Suite struct GoldenCasesTests {
  struct Case: Sendable {
    let id: String
    let lane: Lane
    let nowMs: Int64
    let documents: [[UInt8]]
    let value: [UInt8]
    let decidesAtCreation: Bool
    let expect: [Tree]

    init(_ line: Substring) throws {
      let tree = try StrictParser.parse(Array(line.utf8))
      id = "\(tree["id"]!.text!): \(tree["title"]!.text!)"
      lane = tree["source"]?.text == "security" ? .security : .ordinary
      nowMs = instant(tree["now"]!.text!) * 1000
      switch tree["preferences"]! {
      case .null: documents = []
      case .array(let several): documents = several.map(\.json)
      case let one: documents = [one.json]
      }
      if let raw = tree["raw"]?.text {
        value = Array(raw.utf8)
        decidesAtCreation = false
      } else {
        guard case .object(let members) = tree["candidate"]! else { fatalError(id) }
        let created = Tree.Member(name: Array("created_at".utf8), value: tree["now"]!)
        value =
          Tree.object(
            members.contains { $0.name == created.name } ? members : [created] + members
          ).json
        decidesAtCreation = true
      }
      expect = tree["expect"]!.elements
    }
  }

  static let cases = String(decoding: repositoryFile("Tests/cases/decisions.jsonl"), as: UTF8.self)
    .split(separator: "\n").map { try! Case($0) }

  @Test func theyAreAllThere() { #expect(Self.cases.count == 58) }

  @Test(arguments: cases.indices) func holds(_ index: Int) throws {
    let golden = Self.cases[index]
    let gate = TestGate(lane: golden.lane)
    for (offset, document) in golden.documents.enumerated() {
      gate.apply(document, offset: Int64(offset))
    }
    let created = golden.value.withUnsafeBytes { gate.engine.createdAtMs(of: $0) }
    let got = gate.decide(
      golden.value, nowMs: golden.decidesAtCreation ? try #require(created) : golden.nowMs)
    #expect(got.count == golden.expect.count, "\(golden.id)")
    for (wanted, got) in zip(golden.expect, got) {
      #expect(
        Self.holds(wanted, got.tree),
        "\(golden.id)\nwant \(wanted)\ngot  \(String(decoding: got.value, as: UTF8.self))")
    }
  }

  private static func holds(_ wanted: Tree, _ got: Tree) -> Bool {
    switch (wanted, got) {
    case (.object(let members), .object):
      members.allSatisfy { member in
        got[String(decoding: member.name, as: UTF8.self)].map { holds(member.value, $0) } ?? false
      }
    case (.array(let wanted), .array(let got)):
      wanted.count == got.count && zip(wanted, got).allSatisfy { holds($0, $1) }
    case (.string, .string):
      wanted == got || (isInstant(wanted) && isInstant(got) && ms(wanted) == ms(got))
    default: wanted == got
    }
  }

  private static func isInstant(_ tree: Tree) -> Bool {
    let text = tree.text!
    return text.utf8.count >= 20 && text.hasSuffix("Z") && Array(text.utf8)[10] == 84
  }

  private static func ms(_ tree: Tree) -> Int64 {
    let fraction = tree.text!.split { $0 == "." || $0 == "Z" }.dropFirst().first
    return instant(tree.text!) * 1000 + (fraction.flatMap { Int64($0) } ?? 0)
  }
}
