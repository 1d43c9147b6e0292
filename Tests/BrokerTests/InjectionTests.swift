import Testing

@testable import Broker

@Suite struct InjectionTests {
  private func sim(_ plan: String) throws -> Sim {
    let sim = Sim()
    sim.topic(partitions: 2)
    sim.core.inject(try InjectionPlan(parsing: plan))
    return sim
  }

  private func send(_ sim: Sim, _ value: String = "a", partition: Int32 = 0, client: String = "c")
    -> RequestId
  {
    sim.send(
      .produce(sim.produceRequest(sim.batch([value]), to: "t", partition)), client: client)
  }

  @Test func aDelayPutsTheWorkOff() throws {
    let sim = try sim("Produce delay 100")
    let id = send(sim)
    sim.pass(99)
    #expect(sim.answer(id) == nil && sim.read() == [])
    sim.pass(1)
    #expect(sim.answer(id) != nil && sim.read() == ["a"])
  }

  @Test func aDelayedAnswerComesAfterTheWork() throws {
    let sim = try sim("Produce delay-answer 100")
    let id = send(sim)
    #expect(sim.answer(id) == nil && sim.read() == ["a"])
    sim.pass(100)
    #expect(sim.answer(id) != nil)
  }

  @Test(arguments: [
    ("drop", false, false), ("lose", true, false), ("close", false, true),
    ("close-after", true, true),
  ])
  func lossesAndClosings(action: String, works: Bool, closes: Bool) throws {
    let sim = try sim("Produce \(action)")
    let id = send(sim)
    switch sim.outcomes[id] {
    case .nothing?: #expect(!closes)
    case .close?: #expect(closes)
    default: Issue.record("\(String(describing: sim.outcomes[id]))")
    }
    #expect(sim.read() == (works ? ["a"] : []))
  }

  @Test func anErrorTakesThePlaceOfTheWork() throws {
    let sim = try sim("Produce partition=1 nth=2 error NOT_LEADER_OR_FOLLOWER")
    func code(_ partition: Int32) -> ErrorCode? {
      guard case .produce(let r)? = sim.answer(send(sim, partition: partition)) else { return nil }
      return r.topics[0].partitions[0].error
    }
    #expect(code(1) == ErrorCode.none)
    #expect(code(0) == ErrorCode.none)
    #expect(code(1) == .notLeaderOrFollower)
    #expect(code(1) == ErrorCode.none)
    #expect(sim.read("t", 1).count == 2)
  }

  @Test func aRepeatedRequestIsAnsweredOnce() throws {
    let sim = try sim("Produce repeat")
    let id = send(sim)
    #expect(sim.outcomes.count == 2)  // with the topic's making
    #expect(sim.answer(id) != nil)
    #expect(sim.read() == ["a", "a"])
    // An idempotent producer is not harmed.
    var p = sim.producer(nil)
    #expect(sim.write("b", by: &p, to: "t", 1).baseOffset == 0)
    #expect(sim.read("t", 1) == ["b"])
  }

  @Test func aSessionIsExpired() throws {
    let sim = try sim("Heartbeat group=g nth=2 expire")
    let member = sim.joinAlone("g")
    #expect(sim.beat(member) == .none)
    #expect(sim.beat(member) == .unknownMemberId)
  }

  @Test func onePartitionStalls() throws {
    let sim = try sim("Fetch partition=1 nth=1 stall 1000")
    sim.produce(sim.batch(["x"]), to: "t", 1)
    let reading = sim.send(.fetch(sim.fetchRequest("t", 1, waitMs: 5_000)))
    let writing = send(sim, partition: 1)
    #expect(sim.answer(send(sim, partition: 0)) != nil)
    sim.pass(999)
    #expect(sim.answer(reading) == nil && sim.answer(writing) == nil)
    sim.pass(1)
    #expect(sim.answer(reading) != nil && sim.answer(writing) != nil)
  }

  @Test func conditionsChooseTheRequests() throws {
    let sim = try sim(
      """
      # who and which
      Produce client=gate* from=2 times=2 drop   # the second and third
      Produce topic=other drop
      """)
    let clients = ["gate-1", "x", "gate-2", "gate-1", "gate-1"]
    let answered = clients.map { sim.answer(send(sim, client: $0)) != nil }
    #expect(answered == [true, true, false, false, true])
  }

  @Test func chanceIsTheSameInEveryRun() throws {
    func run() throws -> [Bool] {
      let sim = try sim("Produce p=0.5 drop")
      return (0..<50).map { _ in sim.answer(send(sim)) != nil }
    }
    let first = try run()
    #expect(first == (try run()))
    #expect(first.contains(true) && first.contains(false))
  }

  @Test(arguments: [
    "Nothing drop", "Produce", "Produce explode", "Produce delay", "Produce delay soon",
    "Produce error NO_SUCH", "Produce colour=red drop", "Produce nth=x drop", "Produce p=2 drop",
    "Produce drop 5",
  ])
  func aBadPlanIsRefusedWithItsLine(line: String) {
    #expect {
      _ = try InjectionPlan(parsing: "# first\n\(line)")
    } throws: { error in
      (error as? PlanError)?.line == 2
    }
  }

  /// Every kind has an answer that carries an error, and it can be written in every version.
  @Test func everyKindCanBeRefused() throws {
    for vector in CodecTests.vectors where vector.isRequest {
      var input = Codec(
        reading: ByteSlice(vector.bytes), version: vector.version,
        flexible: vector.key.isFlexible(vector.version))
      let request = try Request.decode(vector.key, &input)
      _ = try Frame.encode(
        request.refused(.unknownServerError), to: vector.key, version: vector.version,
        correlationId: 1)
    }
  }
}
