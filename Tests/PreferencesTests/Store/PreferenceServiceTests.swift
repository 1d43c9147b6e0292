import Gate
import Glibc
import Testing

@testable import Preferences

@Suite struct PreferenceServiceTests {
  let user = Identifier("u-1")

  @Test(arguments: Backend.allCases)
  func aRepeatedEventIsAnsweredAsTheFirstTime(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let event = world.choice("e-1", user, .marketing, .userOn)
    let first = try world.service.apply(event)
    #expect(first == EventAnswer(outcome: .applied, refusal: nil, version: 1))
    _ = try world.service.apply(
      world.choice("e-2", user, .marketing, .userOff, at: world.nowMs + 1))
    let second = try world.service.apply(event)
    #expect(second == EventAnswer(outcome: .applied, refusal: nil, version: 1, isRepeat: true))
    #expect(try world.audit(user).count == 2)
    #expect(try world.service.user(user)?.account.choices[.marketing]?.state == .userOff)
  }

  @Test(arguments: Backend.allCases)
  func theIdOfOneUsersEventIsFreeForAnother(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    _ = try world.service.apply(world.choice("e-1", user, .marketing, .userOn))
    let other = try world.service.apply(world.choice("e-1", Identifier("u-2"), .social, .userOff))
    #expect(!other.isRepeat)
    #expect(other.outcome == .applied)
  }

  @Test(arguments: Backend.allCases)
  func aRefusalIsOnRecordAndRepeatsItself(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let event = world.choice("e-1", user, .security, .userOff)
    for isRepeat in [false, true] {
      let answer = try world.service.apply(event)
      #expect(answer.outcome == .refused)
      #expect(answer.refusal?.code == "security_needs_admin")
      #expect(answer.isRepeat == isRepeat)
    }
    let rows = try world.audit(user)
    #expect(rows.map(\.outcome) == [.refused])
    #expect(rows[0].reason == "security_needs_admin")
    // On record, but no document: the gate knows no such user.
    #expect(try world.outbox().map(\.topic) == [.audit])
  }

  @Test(arguments: Backend.allCases)
  func aVersionThatWasAskedForMustHold(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let service = world.service!
    let first = world.choice("e-1", user, .marketing, .userOn)
    #expect(try service.apply([first], ifVersion: 1) == .versionDiffers(current: 0))
    #expect(try service.user(user) == nil)
    let applied = EventAnswer(outcome: .applied, refusal: nil, version: 1)
    #expect(try service.apply([first], ifVersion: 0) == .answers([applied]))
    let second = world.choice("e-2", user, .social, .userOff)
    #expect(try service.apply([second], ifVersion: 0) == .versionDiffers(current: 1))
    // Sent again by somebody who did not hear the answer.
    var again = applied
    again.isRepeat = true
    #expect(try service.apply([first], ifVersion: 0) == .answers([again]))
  }

  @Test(arguments: Backend.allCases)
  func severalEventsAreOneTransaction(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let result = try world.service.apply(
      [
        world.choice("e-1", user, .marketing, .userOn),
        world.choice("e-2", user, .security, .userOff),
        world.choice("e-3", user, .social, .userOff),
      ], ifVersion: nil)
    guard case .answers(let answers) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(answers.map(\.outcome) == [.applied, .refused, .applied])
    #expect(answers.map(\.version) == [1, 1, 2])
    #expect(world.service.counters.groups.value == 1)
  }

  @Test(arguments: Backend.allCases)
  func aChangedDefaultLeavesChoicesAlone(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    _ = try world.service.apply(world.choice("e-1", user, .marketing, .userOff))
    let document = try world.outbox().last { $0.topic == .state }?.value
    let answer = try world.service.apply(
      DefaultEvent(
        eventID: Identifier("d-1"), atMs: world.nowMs, category: .marketing,
        value: CategoryDefault(isOn: true, isOnWhereRegulated: true)))
    #expect(answer.outcome == .applied)
    #expect(try world.service.user(user)?.account.choices[.marketing]?.state == .userOff)
    let outbox = try world.outbox()
    #expect(outbox.last { $0.topic == .state }?.value == document)
    #expect(outbox.last?.topic == .defaults)
    #expect(outbox.last?.key == "marketing")
    #expect(try world.service.auditOfDefaults(limit: 10).map(\.kind) == [.defaultSet])
    #expect(
      try world.service.defaults()[.marketing]
        == CategoryDefault(isOn: true, isOnWhereRegulated: true))
  }

  @Test(arguments: Backend.allCases)
  func theTopicShowsAuditsUnderPseudonyms(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    _ = try world.service.apply(world.seen("e-1", user, "d-1"))
    _ = try world.service.apply(world.choice("e-2", user, .marketing, .userOn))
    let rows = try world.outbox().filter { $0.topic == .audit }
    #expect(rows.count >= 2)
    #expect(Set(rows.map(\.key)).count == 1)
    for row in rows {
      #expect(row.key.utf8.count == 64)
      for id in ["u-1", "d-1", "e-1", "e-2"] {
        #expect(!row.value!.contains("\"\(id)\""), "\(row.value!)")
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func erasureLeavesNothing(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let secretUser = Identifier("somebody-to-forget")
    world.nowMs += 1000
    _ = try world.service.apply(world.seen("e-secret-1", secretUser, "d-1"))
    _ = try world.service.apply(world.choice("e-secret-2", secretUser, .marketing, .userOn))
    _ = try world.service.apply(world.choice("e-3", user, .marketing, .userOn))
    _ = try world.service.apply(
      PreferenceEvent(
        eventID: Identifier("e-tap"), userID: secretUser, atMs: world.nowMs,
        body: .userObserved(
          notificationID: Identifier("n-1"), Identifier("d-1"), .tap)))
    #expect(try world.outbox().contains { $0.topic == .receipts })
    let key = try world.outbox().first { $0.topic == .audit }!.key
    let answer = try world.service.apply(world.erased("e-4", secretUser, at: world.nowMs))
    #expect(answer == EventAnswer(outcome: .applied, refusal: nil, version: 0))
    #expect(try world.service.user(secretUser) == nil)
    #expect(try world.service.audit(of: secretUser, limit: 10) == nil)
    #expect(try world.service.user(user) != nil)
    let left = try world.outbox().filter { $0.key == secretUser.text }
    #expect(left.map(\.value) == [nil])
    // A late event does not bring the user back, and leaves no trace either; nor does one that a fast
    // clock dated a little after the erasure.
    let aheadMs = PreferenceMachine.aheadMsMax
    for atMs in [world.nowMs - 500, world.nowMs + aheadMs] {
      let late = try world.service.apply(
        world.choice("e-secret-5", secretUser, .social, .userOn, at: atMs))
      #expect(late.refusal?.code == "erased")
      #expect(try world.service.user(secretUser) == nil)
    }
    // One of after that does, under another pseudonym.
    world.nowMs += aheadMs + 1
    let back = try world.service.apply(world.seen("e-6", secretUser, "d-1", at: world.nowMs))
    #expect(back.outcome == .applied)
    #expect(try world.outbox().last { $0.topic == .audit }!.key != key)
  }

  /// What a gate holds of before ends by the tombstone, and the opt-out of whoever came back reaches
  /// the topic although its document still waited when the erasure took that away.
  @Test(arguments: Backend.allCases, [false, true])
  func whoCameBackIsPublishedBehindATombstone(on backend: Backend, wasKnownBefore: Bool) throws {
    let world = try StoreWorld(backend)
    let later = world.nowMs + 600_000
    if wasKnownBefore {
      _ = try world.service.apply(world.choice("e-1", user, .marketing, .userOn))
    }
    world.nowMs = later
    _ = try world.service.apply(world.choice("e-2", user, .social, .userOff, at: later))
    let version = try #require(try world.service.user(user)?.version)
    let answer = try world.service.apply(world.erased("e-3", user, at: StoreWorld.startMs))
    #expect(answer == EventAnswer(outcome: .applied, refusal: nil, version: version + 1))
    let left = try #require(try world.service.user(user))
    #expect(left.version == version + 1)
    #expect(left.account.choices.keys.map { $0 } == [.social])
    let published = try world.outbox().filter { $0.topic == .state }
    #expect(published.map(\.key) == ["u-1", "u-1"])
    #expect(published.map(\.value) == [nil, PreferenceDocument.text(left)])
  }

  /// What was chosen before the erasure is not told by the rows of after it either: not by the next, nor
  /// by one behind an undoing, which led back to it.
  @Test(arguments: Backend.allCases)
  func rowsThatStayDoNotTellWhatWasErased(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let later = world.nowMs + 600_000
    _ = try world.service.apply(world.choice("e-1", user, .marketing, .userOn))
    _ = try world.service.apply(world.seen("e-2", user, "d-1"))
    world.nowMs = later + 10
    _ = try world.service.apply(
      world.choice("e-3", user, .marketing, .userOff, at: later, source: .unsubscribeLink))
    _ = try world.service.apply(
      PreferenceEvent(
        eventID: Identifier("e-4"), userID: user, atMs: later + 1, source: .unsubscribeLink,
        body: .linkUndone(.marketing)))
    _ = try world.service.apply(
      world.choice("e-5", user, .marketing, .userOff, at: later + 2))
    _ = try world.service.apply(world.choice("e-6", user, .security, .userOff, at: later + 3))
    _ = try world.service.apply(
      PreferenceEvent(
        eventID: Identifier("e-7"), userID: user, atMs: later + 4,
        body: .deviceRemoved(Identifier("d-1"))))
    let last = try #require(try world.audit(user).first { $0.eventID.text == "e-5" })
    #expect(last.before == "user-on")
    _ = try world.service.apply(world.erased("e-8", user, at: StoreWorld.startMs))
    let rows = try world.audit(user)
    #expect(rows.map(\.eventID.text) == ["e-3", "e-4", "e-5", "e-6", "e-7"])
    #expect(rows.allSatisfy { $0.before == nil && $0.after != nil })
    // What comes afterwards says again what was before it.
    _ = try world.service.apply(world.choice("e-9", user, .marketing, .userOn, at: later + 5))
    #expect(try world.audit(user).last?.before == "user-off")
  }

  /// Requirements P1: the device's fact outlives the user, also one that comes when the user is gone.
  @Test(arguments: Backend.allCases)
  func aPromptOfAnErasedUserCountsForTheDevice(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let gone = Identifier("u-gone")
    let device = Identifier("d-1")
    func prompt(_ id: String, _ user: Identifier) throws -> EventAnswer {
      try world.service.apply(
        PreferenceEvent(
          eventID: Identifier(id), userID: user, atMs: StoreWorld.startMs,
          body: .permissionPromptShown(device, moment: Identifier("order_placed"))))
    }
    _ = try world.service.apply(world.seen("e-1", gone, "d-1"))
    _ = try world.service.apply(world.erased("e-2", gone, at: world.nowMs))
    _ = try world.service.apply(world.seen("e-3", user, "d-1", at: world.nowMs + 1))
    #expect(try prompt("e-4", gone).refusal?.code == "erased")
    #expect(try prompt("e-5", Identifier("nobody")).refusal?.code == "unknown_user")
    #expect(try world.service.user(gone) == nil)
    #expect(try world.service.holder(of: device) == user)
    let kept = try world.service.store.readers.read { connection throws(SQLError) in
      try UserReader(connection: connection).device(device)
    }
    #expect(kept?.prompt?.atMs == StoreWorld.startMs)
    #expect(try world.audit(user).allSatisfy { $0.kind != .promptShown })
  }

  @Test func whatWasErasedIsNotInTheFileEither() throws {
    let world = try StoreWorld()
    let secretUser = Identifier("somebody-to-forget")
    _ = try world.service.apply(world.choice("event-to-forget", secretUser, .marketing, .userOn))
    #expect(try contains(world, "somebody-to-forget"))
    _ = try world.service.apply(world.erased("e-2", secretUser, at: world.nowMs))
    // The tombstone, which names the user, was published.
    _ = try world.service.store.writer.perform { connection throws(SQLError) in
      try OutboxTable(connection: connection).remove(of: .state, [0...(.max)])
    }
    #expect(try world.service.purgeErased())
    #expect(try !contains(world, "somebody-to-forget"))
    #expect(try !contains(world, "event-to-forget"))
  }

  private func contains(_ world: StoreWorld, _ text: String) throws -> Bool {
    var found = false
    for suffix in ["", "-wal"] {
      let file = try #require(fopen(world.path + suffix, "r"))
      defer { fclose(file) }
      fseek(file, 0, SEEK_END)
      var bytes = [UInt8](repeating: 0, count: ftell(file))
      rewind(file)
      #expect(fread(&bytes, 1, bytes.count, file) == bytes.count)
      let wanted = Array(text.utf8)
      found = found || bytes.contains(wanted)
    }
    return found
  }

  @Test(arguments: Backend.allCases)
  func idsAndErasuresAreForgottenInTime(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let event = world.choice("e-1", user, .marketing, .userOn)
    let gone = Identifier("u-gone")
    _ = try world.service.apply(event)
    _ = try world.service.apply(world.erased("e-2", gone, at: world.nowMs))
    world.nowMs += 30 * 86_400_000
    try world.service.forgetOld()
    #expect(try world.service.apply(event).isRepeat)
    world.nowMs += 1
    try world.service.forgetOld()
    // The field still knows when it was set.
    #expect(
      try world.service.apply(event) == EventAnswer(outcome: .unchanged, refusal: nil, version: 1))
    #expect(
      try world.service.apply(world.choice("e-3", gone, .social, .userOff)).outcome == .applied)
  }

  @Test(arguments: Backend.allCases)
  func everyOldIdIsForgottenHoweverMany(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    for number in 0..<50 {
      world.nowMs += Int64(number % 3)
      _ = try world.service.apply(world.choice("e-\(number)", user, .marketing, .userOn))
    }
    world.nowMs += 31 * 86_400_000
    try world.service.forgetOld(stepMax: 7)
    let left = try world.service.store.readers.read { connection throws(SQLError) in
      try connection.first("SELECT count(*) FROM event_ids", []) { $0.integer(0) }
    }
    #expect(left == 0)
  }

  @Test(arguments: Backend.allCases)
  func ofNobodyNothingIsTold(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let nobody = Identifier("nobody")
    #expect(try world.service.user(nobody) == nil)
    #expect(try world.service.audit(of: nobody, limit: 10) == nil)
    #expect(try world.service.settings(of: nobody, device: Identifier("d")) == nil)
    #expect(
      try world.service.mayPrompt(
        nobody, device: Identifier("d"), moment: Identifier("m")
      ).isAllowed == false)
    #expect(try world.service.export(nobody) == nil)
  }

  @Test(arguments: Backend.allCases)
  func auditsComeInPages(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    for number in 0..<25 {
      let state: Choice = number % 2 == 0 ? .userOn : .userOff
      _ = try world.service.apply(
        world.choice("e-\(number)", user, .marketing, state, at: world.nowMs + Int64(number)))
    }
    var pages: [[AuditRow]] = []
    var last: Int64 = 0
    while let page = try world.service.audit(of: user, after: last, limit: 10), !page.isEmpty {
      pages.append(page)
      last = page.last!.sequence
    }
    #expect(pages.map(\.count) == [10, 10, 5])
    #expect(pages.joined().map(\.eventID.text) == (0..<25).map { "e-\($0)" })
  }

  @Test(arguments: Backend.allCases)
  func idsThatDifferOnlyInCompositionAreTwoUsers(on backend: Backend) throws {
    let world = try StoreWorld(backend)
    let composed = Identifier("\u{e9}")
    let decomposed = Identifier("e\u{301}")
    _ = try world.service.apply(world.choice("e-1", composed, .marketing, .userOn))
    #expect(try world.service.user(decomposed) == nil)
    _ = try world.service.apply(world.choice("e-1", decomposed, .marketing, .userOff))
    #expect(try world.service.user(composed)?.account.choices[.marketing]?.state == .userOn)
  }
}
