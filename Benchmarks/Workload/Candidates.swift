import Gate

/// Candidates in one run of memory, made before anything is measured.
public final class Candidates {
  public static let partitionCount: Int32 = 8

  /// What one record is made from; its key is the user's id unless it says otherwise.
  struct Draft {
    var user: String
    var value: String?
    var key: String?

    init(user: String, value: String?, key: String? = nil) {
      self.user = user
      self.value = value
      self.key = key ?? user
    }
  }

  private let bytes: UnsafeMutableRawBufferPointer
  public private(set) var records: [InputRecord] = []
  /// Of the values.
  public private(set) var valueBytes = 0

  init(_ drafts: [Draft]) {
    valueBytes = drafts.reduce(0) { $0 + ($1.value?.utf8.count ?? 0) }
    let keyBytes = drafts.reduce(0) { $0 + ($1.key?.utf8.count ?? 0) }
    // simdjson's own readers, which the twin of the kernel uses, look at some bytes more.
    bytes = .allocate(byteCount: valueBytes + keyBytes + 64, alignment: 16)
    var at = 0
    func put(_ text: String) -> UnsafeRawBufferPointer {
      bytes[at...].copyBytes(from: text.utf8)
      defer { at += text.utf8.count }
      return UnsafeRawBufferPointer(rebasing: bytes[at..<(at + text.utf8.count)])
    }
    for draft in drafts {
      let key = draft.key.map { put($0) }
      records.append(
        InputRecord(
          partition: key.map { Partitioner.partition(forKey: $0, count: Self.partitionCount) } ?? 0,
          offset: Int64(records.count), timestampMs: 0, key: key,
          value: draft.value.map { put($0) }, handle: nil))
    }
  }

  deinit { bytes.deallocate() }

  /// About 400 bytes each, for users drawn evenly from `0..<users`.
  public static func ordinary(_ count: Int, users: Int, of population: Users, seed: UInt64)
    -> Candidates
  {
    var random = Random(seed: seed)
    return Candidates(
      (0..<count).map { number in
        let user = random.below(users)
        let kind = kinds[random.below(kinds.count)]
        let device =
          random.perMille(300)
          ? ",\"device_id\":\"\(population.deviceID(user, 0))\"" : ""
        let expires = random.perMille(200) ? #","expires_at":"2026-03-11T08:00:00Z""# : ""
        let id = population.id(user)
        let value = """
          {"notification_id":"n-\(seed)-\(number)","user_id":"\(id)"\(device),\
          \(kind),"created_at":"2026-03-09T22:29:59.250Z"\(expires),"payload":\(payload(&random))}
          """
        return Draft(user: id, value: value)
      })
  }

  /// Ordinary candidates for users that nobody knows.
  public static func strangers(_ count: Int, of population: Users, seed: UInt64) -> Candidates {
    ordinary(count, users: count, of: Users(seed: population.seed &+ 0x5EED), seed: seed)
  }

  /// What the security topic carries.
  public static func security(_ count: Int, users: Int, of population: Users, seed: UInt64)
    -> Candidates
  {
    var random = Random(seed: seed)
    let events = ["suspicious_login", "2fa_code", "password_reset", "login_alert"]
    return Candidates(
      (0..<count).map { number in
        let user = random.below(users)
        let event = events[random.below(events.count)]
        let id = population.id(user)
        let value = """
          {"notification_id":"s-\(seed)-\(number)","user_id":"\(id)",\
          "category":"security","event":"\(event)",\
          "created_at":1773095399250,"payload":\(payload(&random))}
          """
        return Draft(user: id, value: value)
      })
  }

  private static let kinds = [
    #""category":"social","subtype":"like""#, #""category":"social","subtype":"comment""#,
    #""category":"social","subtype":"mention""#, #""category":"marketing","subtype":"promotion""#,
    #""category":"marketing","subtype":"winback""#,
    #""category":"transactional","event":"order_shipped""#,
    #""category":"transactional","event":"payment_failed""#,
    #""category":"transactional","collapse_key":"order""#,
  ]

  static func payload(_ random: inout Random) -> String {
    let number = random.below(1_000_000)
    return """
      {"title":"Something happened \(number)","body":"A line of text that says what it was, \
      about as long as people write them.","image":"https://img.example.net/\(number).jpg",\
      "badge":\(number % 10),"data":{"deep_link":"app://item/\(number)","tags":["a","b"]}}
      """
  }
}
