import Testing

@testable import Gate

/// The registry of reasons (deploy/contracts/reasons.json) is complete and has nothing too much: its
/// codes are the gate's, and the gate produces each of them, in a golden case or in one below.
@Suite struct ReasonCodesTests {
  struct Entry {
    var code: String
    var outcome: String
    var about: String

    init(_ tree: Tree) {
      code = tree["code"]!.text!
      outcome = tree["outcome"]!.text!
      about = tree["about"]!.text!
    }
  }

  static let entries: [Entry] = {
    let registry = try! StrictParser.parse(repositoryFile("deploy/contracts/reasons.json"))
    return registry["reasons"]!.elements.map(Entry.init)
  }()

  @Test func theCodesAreTheGatesInTheirOrder() {
    #expect(Self.entries.map(\.code) == Reason.allCases.map { "\($0.name)" })
    #expect(Self.entries.map(\.outcome) == Reason.allCases.map { "\($0.outcome.name)" })
  }

  @Test func everyCodeIsProducedByTheGate() throws {
    var produced: [String: Decided] = [:]
    for decided in Self.golden() + (try Self.own()) { produced["\(decided.reason.name)"] = decided }
    #expect(Set(produced.keys) == Set(Self.entries.map(\.code)))
    for entry in Self.entries {
      let decided = try #require(produced[entry.code])
      #expect("\(decided.outcome.name)" == entry.outcome, "\(entry.code)")
      // Of a device the gate has looked at something, of a candidate at nothing.
      let isAboutDevice = decided["evidence.os_permission"] != .null
      #expect(isAboutDevice == (entry.about == "device"), "\(entry.code)")
    }
  }

  private static func golden() -> [Decided] {
    GoldenCasesTests.cases.flatMap { golden in
      let gate = TestGate(lane: golden.lane)
      for (offset, document) in golden.documents.enumerated() {
        gate.apply(document, offset: Int64(offset))
      }
      let created = golden.value.withUnsafeBytes { gate.engine.createdAtMs(of: $0) }
      return gate.decide(
        golden.value, nowMs: golden.decidesAtCreation ? created! : golden.nowMs)
    }
  }

  /// What no golden case has, since it takes more than one record.
  private static func own() throws -> [Decided] {
    let device = DuplicateTests.device("d")
    let plain = DuplicateTests.document(device)
    let held = DuplicateTests.document(device, #""suppressions":["legal_hold"]"#)
    let broken = #"{"user_id":"u","version":1,"account":{"suppressions":["?"]},"devices":[]}"#
    let social = DuplicateTests.candidate("n")
    let nowMs = DuplicateTests.nowMs
    var decided = TestGate(documents: [held]).decide(social, nowMs: nowMs)
    decided += TestGate(documents: [broken]).decide(social, nowMs: nowMs)
    decided += TestGate(
      documents: [plain],
      defaults: [#"{"category":"social","default":"off","regulated_default":"off"}"#]
    ).decide(social, nowMs: nowMs)
    let lane = CapTests.lane([plain], CapSupport.sliding(1, seconds: 3600))
    for value in [social, social, DuplicateTests.candidate("m")] {
      decided += lane.gate.decide(value, nowMs: nowMs)
    }
    let bench = HoldBench(documents: [HoldBench.document()])
    let collapse = #","collapse_key":"order-7""#
    let older = bench.hold(HoldBench.candidate("n-1", collapse), at: ReleaserTests.night)
    let newer = bench.hold(HoldBench.candidate("n-2", collapse), at: ReleaserTests.night)
    decided += [
      try #require(bench.release(older, at: ReleaserTests.morning).record),
      try #require(
        bench.supersede(older, by: newer, collapseKey: "order-7", at: ReleaserTests.night).record),
    ]
    return decided
  }
}
