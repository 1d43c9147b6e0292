import Gate
import Testing

@testable import Pipeline

@Suite struct LoopPauseTests {
  @Test func nothingIsDecidedBeforeThePreferencesAreRead() {
    let rig = Rig()
    let unready = PreferenceReadiness()
    var decidedBefore = -1
    rig.source.onPoll = { [decider = rig.decider, clock = rig.clock, control = rig.control] poll in
      if poll == 10 {
        decidedBefore = decider.decided
        unready.setFresh(atMs: clock.nowMs)
        unready.becomeReady()
      }
      if rig.cluster.isFinished || poll > 300 { control.ask(.drain) }
    }
    let loop = GateLoop(
      source: rig.source, sink: rig.sink, clock: rig.clock, decider: rig.decider,
      state: rig.state, stateSource: rig.stateSource,
      settings: LoopSettings(commitIntervalMs: 20, staleMsMax: nil), counters: rig.counters,
      control: rig.control, readiness: unready, epochs: Epochs(), onEvent: { _ in })
    #expect(loop.run() == .drained)
    #expect(decidedBefore == 0)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }

  @Test func aStaleTablePausesTheLaneAndAFreshOneResumesIt() {
    let rig = Rig()
    rig.staleMsMax = 10_000
    var decidedWhileStale = 0
    var decidedAtPause = 0
    rig.source.onPoll = {
      [decider = rig.decider, clock = rig.clock, readiness = rig.readiness] poll in
      switch poll {
      case 5:
        clock.nowMs += 20_000
        decidedAtPause = decider.decided
      // The poll in which it got stale may still bring records that were allowed.
      case 7: decidedAtPause = decider.decided
      case 40:
        decidedWhileStale = decider.decided - decidedAtPause
        readiness.setFresh(atMs: clock.nowMs)
      default: break
      }
    }
    #expect(rig.run() == .drained)
    #expect(decidedWhileStale == 0)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
    #expect(rig.has { if case .paused(_, true) = $0 { true } else { false } })
    #expect(rig.has { $0 == .resumed })
    #expect(rig.counters[.isPaused] == 0)
  }

  @Test func aLaneWithoutALimitGoesOnHoweverStale() {
    let rig = Rig()
    rig.staleMsMax = nil
    rig.source.onPoll = { [clock = rig.clock] poll in
      if poll == 3 { clock.nowMs += 10_000_000 }
    }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(!rig.has { if case .paused = $0 { true } else { false } })
  }

  @Test func aPauseCommitsWhatWasDecidedBeforeIt() {
    let rig = Rig()
    rig.staleMsMax = 1000
    rig.source.onPoll = { [clock = rig.clock] poll in if poll == 3 { clock.nowMs += 5000 } }
    rig.pollsMax = 20
    rig.run()
    #expect(rig.cluster.decisions.count == rig.decider.decided)
    #expect(rig.cluster.violations() == [])
  }

  @Test func partitionsAssignedDuringAPauseWaitToo() {
    let rig = Rig(partitions: 2, assignAtStart: false)
    rig.source.note(.assigned([0]))
    rig.staleMsMax = 1000
    var decidedAtPause = -1
    rig.source.onPoll = {
      [
        source = rig.source, clock = rig.clock, decider = rig.decider,
        readiness = rig.readiness
      ] poll in
      switch poll {
      case 3: clock.nowMs += 5000
      case 6: source.note(.assigned([1]))
      case 8: decidedAtPause = decider.decided
      case 12: source.note(.revoked([0]))
      case 16: source.note(.assigned([0]))
      case 30:
        #expect(decider.decided == decidedAtPause)
        readiness.setFresh(atMs: clock.nowMs)
      default: break
      }
      if poll > 30 { readiness.setFresh(atMs: clock.nowMs) }
    }
    #expect(rig.run() == .drained)
    #expect(rig.cluster.isFinished)
    #expect(rig.cluster.violations() == [])
  }
}
