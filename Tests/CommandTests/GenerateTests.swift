import Foundation
import Gate
import Testing

@testable import sendgate

private func workload(
  users: Int = 2000, candidates: Int = 10_000, seed: UInt64 = 1, hostile: Int = 0
) throws -> Workload {
  let path = "\(repositoryRoot)/deploy/places.tsv"
  return Workload(
    users: users, candidates: candidates, seed: seed, startMs: 1_773_014_400_000,
    spanSeconds: 86_400, hostile: hostile,
    places: try Places(table: FileIO.read(path, bytesMax: Places.bytesMax), name: path))
}

/// The lines of a workload's files, by their names.
private func lines(_ workload: Workload) throws -> [String: [Data]] {
  try withFolder { folder in
    try GenerateCommand.write(workload, to: "\(folder)/out")
    var found: [String: [Data]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/out") {
      let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/out/\(name)"))
      #expect(data.isEmpty || data.last == 0x0A)
      found[name] = data.split(separator: 0x0A)
    }
    return found
  }
}

private func objects(_ lines: [Data]) throws -> [[String: Any]] {
  try lines.map { try #require(JSONSerialization.jsonObject(with: $0) as? [String: Any]) }
}

/// The digest is a promise: these flags gave these bytes with every build and on every machine before.
/// Whoever changes the generator on purpose changes the digest here with it.
@Test func equalFlagsGiveEqualBytesEverywhere() throws {
  try withFolder { folder in
    try GenerateCommand.write(workload(hostile: 150), to: folder)
    let sum = Foundation.Process()
    sum.executableURL = URL(fileURLWithPath: "/bin/sh")
    sum.arguments = [
      "-c", "cat preferences.jsonl candidates.jsonl security.jsonl hostile.jsonl | sha256sum",
    ]
    sum.currentDirectoryURL = URL(fileURLWithPath: folder)
    let output = Pipe()
    sum.standardOutput = output
    try sum.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    sum.waitUntilExit()
    #expect(text == "051b05bc7def2d7136f462f45b7eed119699b7c8b954b884a72c873f9e5e4631  -\n")
  }
}

@Test func usersDoNotDependOnHowManyThereAreNorCandidatesOnHostileLines() throws {
  let few = try lines(workload(users: 100, candidates: 50))
  let many = try lines(workload(users: 300, candidates: 50, hostile: 10))
  #expect(few["preferences.jsonl"]!.elementsEqual(many["preferences.jsonl"]!.prefix(100)))
  #expect(many["hostile.jsonl"]!.count >= 10)
  let sameUsers = try lines(workload(users: 100, candidates: 50, hostile: 10))
  #expect(sameUsers["candidates.jsonl"] == few["candidates.jsonl"])
  let other = try lines(workload(users: 100, candidates: 50, seed: 2))
  #expect(Set(other["preferences.jsonl"]!).isDisjoint(with: few["preferences.jsonl"]!))
  #expect(Set(other["candidates.jsonl"]!).isDisjoint(with: few["candidates.jsonl"]!))
}

@Test func countsAreThoseAskedFor() throws {
  for (users, candidates) in [(0, 0), (0, 5), (1, 1), (3, 0), (1, 100)] {
    let found = try lines(workload(users: users, candidates: candidates))
    #expect(Set(found.keys) == ["preferences.jsonl", "candidates.jsonl", "security.jsonl"])
    #expect(found["preferences.jsonl"]!.count == users)
    #expect(found["candidates.jsonl"]!.count + found["security.jsonl"]!.count == candidates)
  }
}

/// `count` lies within five standard deviations of `share` of `total`: one run in two million of a
/// right generator would fail, and the seed is fixed.
private func isShare(_ count: Int, of total: Int, _ share: Double) -> Bool {
  let expected = Double(total) * share
  return abs(Double(count) - expected) <= 5 * (expected * (1 - share)).squareRoot() + 1
}

@Test func usersAreSpreadAsTheTableOfSharesSays() throws {
  let total = 10_000
  let users = try objects(lines(workload(users: total, candidates: 0))["preferences.jsonl"]!)
  #expect(Set(users.map { $0["user_id"] as! String }).count == total)
  let accounts = users.map { $0["account"] as! [String: Any] }
  let devices = users.flatMap { $0["devices"] as! [[String: Any]] }
  #expect(Set(devices.map { $0["device_id"] as! String }).count == devices.count)
  #expect((1.33...1.39).contains(Double(devices.count) / Double(total)))
  #expect(users.map { ($0["devices"] as! [Any]).count }.max() == 4)

  func choice(_ account: [String: Any], _ category: String) -> String? {
    let categories = account["categories"] as! [String: [String: Any]]
    return categories[category]?["state"] as? String
  }
  #expect(isShare(accounts.count { $0["quiet_hours"] != nil }, of: total, 0.3333))
  #expect(isShare(accounts.count { choice($0, "marketing") == "user-on" }, of: total, 0.16))
  #expect(isShare(accounts.count { choice($0, "marketing") == "user-off" }, of: total, 0.22))
  #expect(isShare(accounts.count { choice($0, "social") == "user-off" }, of: total, 0.07))
  #expect(isShare(accounts.count { $0["sms"] != nil }, of: total, 0.12))
  #expect(isShare(accounts.count { $0["muted_subtypes"] != nil }, of: total, 0.06))
  #expect(isShare(accounts.count { $0["timezone"] != nil }, of: total, 0.6))
  #expect(accounts.count { !($0["suppressions"] as! [String]).isEmpty } > 0)

  let count = devices.count
  #expect(isShare(devices.count { $0["token_status"] as! String == "active" }, of: count, 0.92))
  #expect(isShare(devices.count { $0["region"] == nil }, of: count, 0.03))
  #expect(isShare(devices.count { $0["timezone"] == nil }, of: count, 0.02))
  #expect(devices.count { $0["quiet_hours"] is NSNull } > 0)
  #expect(devices.count { $0["quiet_hours"] is [String: Any] } > 0)
  for device in devices {
    let platform = device["platform"] as! String
    #expect(["ios", "android"].contains(platform))
    if device["os_permission"] as! String == "provisional" { #expect(platform == "ios") }
  }
  // People by the table: a fifth of all in it lives in China.
  let table = try readText("\(repositoryRoot)/deploy/places.tsv").split(separator: "\n")
    .filter { !$0.hasPrefix("#") }.dropFirst()
    .map { $0.split(separator: "\t") }
  let people = table.reduce(0) { $0 + Int($1[2])! }
  let chinese = table.reduce(0) { $0 + ($1[0] == "CN" ? Int($1[2])! : 0) }
  // A device away from home may be anywhere, by the same table.
  let located = devices.count { $0["region"] != nil }
  let spread = Double(chinese) / Double(people)
  let seen = Double(devices.count { $0["region"] as? String == "CN" }) / Double(located)
  #expect(abs(seen - spread) < 0.02)
}

@Test func candidatesAreSpreadAsTheTableOfSharesSays() throws {
  let total = 20_000
  let found = try lines(workload(users: 3000, candidates: total))
  let ordinary = try objects(found["candidates.jsonl"]!)
  let security = try objects(found["security.jsonl"]!)
  func of(_ category: String) -> Int {
    ordinary.count { $0["category"] as! String == category }
  }
  #expect(isShare(of("social"), of: total, 0.55))
  #expect(isShare(of("marketing"), of: total, 0.25))
  #expect(isShare(of("transactional"), of: total, 0.18))
  #expect(isShare(security.count, of: total, 0.02))
  #expect(security.allSatisfy { $0["category"] as! String == "security" })
  #expect(security.contains { $0["event"] as! String == "2fa_code" })
  #expect(of("social") + of("marketing") + of("transactional") == ordinary.count)

  let all = ordinary + security
  #expect(Set(all.map { $0["notification_id"] as! String }).count == total)
  #expect(isShare(all.count { $0["device_id"] != nil }, of: total, 0.05))
  #expect(all.contains { $0["sms_fallback"] as? Bool == true })
  #expect(all.contains { $0["collapse_key"] != nil })
  let bytes = found["candidates.jsonl"]!.reduce(0) { $0 + $1.count } / ordinary.count
  #expect((380...420).contains(bytes), "\(bytes) bytes a candidate")

  // Users are known, but for the share that is not on purpose; a device named is its user's, but
  // for the same.
  var devices: [String: Set<String>] = [:]
  for user in try objects(found["preferences.jsonl"]!) {
    devices[user["user_id"] as! String] = Set(
      (user["devices"] as! [[String: Any]]).map { $0["device_id"] as! String })
  }
  let strangers = all.count { devices[$0["user_id"] as! String] == nil }
  #expect(isShare(strangers, of: total, 0.003))
  let known = all.filter { devices[$0["user_id"] as! String] != nil && $0["device_id"] != nil }
  let foreign = known.count {
    !devices[$0["user_id"] as! String]!.contains($0["device_id"] as! String)
  }
  #expect(isShare(foreign, of: known.count, 0.04))
  // Half of all candidates go to a quarter of the users.
  let counts = Dictionary(grouping: all) { $0["user_id"] as! String }.values.map(\.count).sorted()
  let busiest = counts.suffix(3000 / 4).reduce(0, +)
  #expect((0.47...0.60).contains(Double(busiest) / Double(total)))
}

/// Goal: the gate takes what is generated: every candidate is readable, every document too, and a run
/// shows most of the reasons there are. Method: the gate's own engine over both files.
@Test func theGateReadsEveryLineAndGivesManyReasons() throws {
  try withFolder { folder in
    let workload = try workload(users: 2000, candidates: 8000)
    try GenerateCommand.write(workload, to: folder)
    let world = try World(policyFile: nil)
    try world.readPreferences("\(folder)/preferences.jsonl")
    var reasons: [Reason: Int] = [:]
    for (file, lane) in [("candidates", Lane.ordinary), ("security", .security)] {
      let engine = world.engine(lane)
      try decideEach("\(folder)/\(file).jsonl", engine, nowMs: workload.startMs) { record in
        reasons[record.reason, default: 0] += 1
      }
    }
    #expect(reasons[.invalidCandidate] == nil)
    #expect(reasons[.preferencesUnreadable] == nil)
    #expect(reasons[.unknownCategory] == nil)
    for reason in [
      Reason.ok, .quietHoursBypassed, .quietHoursDeferred, .quietHoursDropped, .noGdprConsent,
      .accountOptedOut, .deviceOptedOut, .subtypeMuted, .osPermissionDenied, .tokenExpired,
      .tokenRevoked, .unknownUser, .unknownDevice, .expired, .suppressedBounced,
    ] {
      #expect((reasons[reason] ?? 0) > 0, "\(reason) never came up in \(reasons)")
    }
  }
}

@Test func everyHostileLineIsDroppedAndNamed() throws {
  try withFolder { folder in
    // Every kind some times over.
    let workload = try workload(users: 100, candidates: 0, hostile: 300)
    try GenerateCommand.write(workload, to: folder)
    let world = try World(policyFile: nil)
    try world.readPreferences("\(folder)/preferences.jsonl")
    let engine = world.engine(.ordinary)
    var inputs = 0
    var reasons: Set<Reason> = []
    try decideEach("\(folder)/hostile.jsonl", engine, nowMs: workload.startMs) { record in
      inputs += 1
      reasons.insert(record.reason)
      let text = String(decoding: record.value.prefix(600), as: UTF8.self)
      #expect(record.outcome == .dropped, "\(text)")
    }
    #expect(inputs == 300)
    #expect(
      reasons == [
        .invalidCandidate, .unknownCategory, .categoryMismatch, .payloadTooLarge,
        .criticalNotAllowed, .unknownDevice,
      ])
  }
}

private func decideEach(
  _ path: String, _ engine: Engine, nowMs: Int64, _ body: (OutputRecord) -> Void
) throws {
  try LineReader.forEachLine(of: path) { (line) throws(CommandFailure) in
    let record = InputRecord(
      partition: 0, offset: 0, timestampMs: nowMs, key: nil, value: line, handle: nil)
    withUnsafePointer(to: record) { pointer in
      for output in engine.decide(UnsafeBufferPointer(start: pointer, count: 1), nowMs: nowMs) {
        body(output)
      }
    }
  }
}

@Test func theGeneratorsMatchTheirPublishedVectors() {
  var random = Random(state: (1, 2, 3, 4))
  let expected: [UInt64] = [
    11_520, 0, 1_509_978_240, 1_215_971_899_390_074_240, 1_216_172_134_540_287_360,
    607_988_272_756_665_600, 16_172_922_978_634_559_625, 8_476_171_486_693_032_832,
  ]
  for value in expected { #expect(random.next() == value) }
  let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
  #expect(Random.mix(1_234_567 &+ golden) == 6_457_827_717_110_365_317)
  #expect(Random.mix(1_234_567 &+ golden &+ golden) == 3_203_168_211_198_807_973)
}

@Test func boundedDrawsStayInBoundsAndReachBothEnds() {
  var random = Random(seed: 9, stream: 1)
  for bound in 1...20 {
    var seen: Set<Int> = []
    for _ in 0..<2000 { seen.insert(random.below(bound)) }
    #expect(seen == Set(0..<bound))
  }
  for _ in 0..<1000 {
    let (never, always) = (random.chance(0), random.chance(10_000))
    #expect(!never && always)
  }
}

@Test(arguments: [
  ("", "f names no place where anybody lives"),
  ("# only a comment\n", "f names no place where anybody lives"),
  ("region\ttimezone\tpopulation\n", "f names no place where anybody lives"),
  ("region\ttimezone\tpopulation\nDE\tEurope/Berlin\t0\n", "f names no place where anybody lives"),
  ("DE\tEurope/Berlin\t5\n", "line 1 of f: wants the header region, timezone, population"),
  ("# c\nregion\ttimezone\tpopulation\nDE\tEurope/Berlin\n", "line 3 of f: wants region"),
  ("region\ttimezone\tpopulation\nde\tEurope/Berlin\t5\n", "line 2 of f: wants region"),
  ("region\ttimezone\tpopulation\nDE\tEurope/\"Berlin\t5\n", "line 2 of f: wants region"),
  ("region\ttimezone\tpopulation\nDE\t\t5\n", "line 2 of f: wants region"),
  ("region\ttimezone\tpopulation\nDE\tEurope/Berlin\t-5\n", "line 2 of f: wants region"),
  ("region\ttimezone\tpopulation\nDE\tEurope/Berlin\t5\t6\n", "line 2 of f: wants region"),
])
func aBrokenTableOfPlacesIsNamed(_ table: String, _ message: String) {
  let error = #expect(throws: CommandFailure.self) {
    try Places(table: Array(table.utf8), name: "f")
  }
  #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
  #expect(error?.exitCode == 65)
}

@Test func placesAreDrawnByTheirPopulation() throws {
  let table = "region\ttimezone\tpopulation\r\nAA\tA\t1\r\nBB\tB\t0\r\nCC\tC\t3\r\n"
  let places = try Places(table: Array(table.utf8), name: "f")
  var random = Random(seed: 1, stream: 1)
  var counts: [[UInt8]: Int] = [:]
  for _ in 0..<4000 { counts[places.pick(&random).region, default: 0] += 1 }
  #expect(counts.keys.count == 2)
  #expect(isShare(counts[Array("AA".utf8)]!, of: 4000, 0.25))
}

@Test func whatCannotBeWrittenIsAnErrorAndNotAHalfFile() throws {
  try withFolder { folder in
    let words = ["generate", "--users", "5000", "--candidates", "1"]
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/preferences.jsonl", withDestinationPath: "/dev/full")
    let full = dispatch(words + ["--out", folder])
    #expect(full.code == 74)
    #expect(
      full.error
        == "sendgate generate: cannot write \(folder)/preferences.jsonl: No space left on device\n")
    let nowhere = dispatch(words + ["--out", "\(folder)/a/b"])
    #expect(nowhere.code == 73)
    #expect(dispatch(words + ["--out", folder, "--places", "\(folder)/none"]).code == 66)
    let start = dispatch(words + ["--out", folder, "--start", "yesterday"])
    #expect(start.code == 64)
    #expect(start.error.contains("--start wants an instant"))
  }
}
