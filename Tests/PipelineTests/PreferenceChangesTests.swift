import Testing

@testable import Pipeline

@Suite struct PreferenceChangesTests {
  @Test func whatIsNotedIsDrainedOnceInOrder() {
    let changes = PreferenceChanges()
    var drained: [PreferenceChanges.Change] = []
    #expect(!changes.drain(into: &drained) && drained.isEmpty)
    let noted = (0..<5).map { PreferenceChanges.Change(partition: 1, user: UInt64($0)) }
    for change in noted { changes.note(change) }
    #expect(!changes.drain(into: &drained))
    #expect(drained == noted)
    drained = []
    #expect(!changes.drain(into: &drained) && drained.isEmpty)
  }

  @Test func pastTheBoundItIsEverything() {
    let changes = PreferenceChanges()
    for i in 0...PreferenceChanges.changesMax {
      changes.note(PreferenceChanges.Change(partition: 0, user: UInt64(i)))
    }
    var drained: [PreferenceChanges.Change] = []
    #expect(changes.drain(into: &drained) && drained.isEmpty)
    changes.note(PreferenceChanges.Change(partition: 0, user: 1))
    #expect(!changes.drain(into: &drained) && drained.count == 1)
    changes.noteEverything()
    #expect(changes.drain(into: &drained))
  }
}
