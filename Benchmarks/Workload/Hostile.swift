import Gate

/// Users and candidates such as nobody hopes for: every reason of rows 1 to 5, the largest records,
/// escapes, objects of many members.
extension Candidates {
  /// Documents that the hostile candidates are for.
  public static let hostileDocuments: [String] = [
    #"{"user_id":"none","version":1,"devices":[]}"#,
    #"{"user_id":"broken","version":1,"devices":[{}]}"#,
    """
    {"user_id":"fan","devices":[\(
      (0..<64).map {
        """
        {"device_id":"fan-\($0)","platform":"ios","os_permission":"granted",\
        "token_status":"active","region":"US","timezone":"America/New_York"}
        """
      }.joined(separator: ","))]}
    """,
  ]

  public static func hostile(_ count: Int, users: Int, of population: Users, seed: UInt64)
    -> Candidates
  {
    var random = Random(seed: seed)
    return Candidates(
      (0..<count).map { number in
        let user = population.id(random.below(users))
        let form = forms[number % forms.count]
        return form(user, "h-\(seed)-\(number)", &random)
      })
  }

  private typealias Form = @Sendable (_ user: String, _ id: String, inout Random) -> Draft

  private static func social(_ user: String, _ id: String, _ more: String = "") -> Draft {
    Draft(
      user: user,
      value: #"{"notification_id":"\#(id)","user_id":"\#(user)","category":"social"\#(more)}"#)
  }

  private static let forms: [Form] = [
    { user, _, _ in Draft(user: user, value: nil) },
    { user, _, _ in Draft(user: user, value: "") },
    { user, _, _ in Draft(user: user, value: #"{"notification_id":"x","user_id":"\#(user)"#) },
    { user, id, _ in
      Draft(user: user, value: #"{"notification_id":"\#(id)","user_id":\#(id.count)}"#)
    },
    { user, id, _ in
      Draft(user: user, value: social(user, id).value, key: "somebody-else")
    },
    { user, id, _ in social(user, id, #","category":"social""#) },
    { user, id, _ in social(user, id, #","x":"\#(String(repeating: "y", count: 60_000))""#) },
    { user, id, _ in social(user, id, #","expires_at":"2026-02-30T00:00:00Z""#) },
    { user, id, _ in
      let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
      return social(user, id, ",\"x\":\(deep)")
    },
    { user, id, _ in
      let bytes = String(repeating: "z", count: 50_000)
      return Draft(user: user, value: #"{"notification_id":"\#(id)","pad":"\#(bytes)"}"#)
    },
    { user, id, _ in
      Draft(
        user: user,
        value: #"{"notification_id":"\#(id)","user_id":"\#(user)","category":"loyalty"}"#)
    },
    { user, id, _ in social(user, id, #","event":"promotion""#) },
    { user, id, _ in social(user, id, #","critical":true"#) },
    { user, id, _ in social(user, id, #","expires_at":1"#) },
    { user, id, _ in social(user, id, #","expires_at":"2026-03-01T00:00:00Z""#) },
    { user, id, _ in
      social(user, id, #","payload":{"t":"\#(String(repeating: "x", count: 5_000))"}"#)
    },
    { user, id, _ in social(user, id, #","device_id":"nobody's""#) },
    { _, id, _ in social("stranger", id) },
    { _, id, _ in social("none", id) },
    { _, id, _ in social("broken", id) },
    { _, id, _ in social("fan", id) },
    { user, id, _ in
      let escaped = user.utf8.map {
        let digits = String($0, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
      return Draft(
        user: user,
        value: #"{"notification_id":"\#(id)\"\\","user_id":"\#(escaped)","category":"social"}"#)
    },
    { user, id, _ in
      let members = (0..<60).map { "\"m\($0)\":{\"a\":[1,2.5e3,null,true]}" }
      return social(user, id, "," + members.joined(separator: ","))
    },
  ]
}
