/// Lines that no producer should send and some do: each must be dropped with a reason and stop
/// nothing. They have a file of their own, since `publish` refuses them.
struct HostileWriter {
  let workload: Workload
  let out: LineWriter

  /// The kinds take turns, so that a few dozen lines have them all.
  func writeAll() {
    var random = workload.random(.hostile)
    for i in 0..<workload.hostile where !out.isFailed {
      let kind = i % Self.kinds.count
      let user = workload.users == 0 ? 0 : random.below(workload.users)
      switch Self.kinds[kind] {
      case .bytes(let text): out.raw(text)
      case .members(let text): writeMembers(i, user, text)
      case .repeated(let before, let piece, let count, let after):
        out.raw(before)
        for _ in 0..<count { out.raw(piece) }
        out.raw(after)
      case .invalidUTF8(let bytes):
        writeStart(i, user)
        out.raw(",\"category\":\"social\",\"payload\":{\"title\":\"")
        bytes.withUnsafeBytes { out.raw($0) }
        out.raw("\"}}")
      case .payload(let bytes):
        writeStart(i, user)
        out.raw(",\"category\":\"social\",\"payload\":{\"title\":\"")
        for _ in 0..<bytes { out.byte(UInt8(ascii: "a")) }
        out.raw("\"}}")
      }
      out.endLine()
    }
  }

  private enum Kind {
    /// The whole line.
    case bytes(StaticString)
    /// Behind readable ids: the rest of the object's members.
    case members(StaticString)
    case repeated(StaticString, StaticString, Int, StaticString)
    /// In a payload's text.
    case invalidUTF8([UInt8])
    /// A payload of about so many bytes.
    case payload(Int)
  }

  private func writeMembers(_ i: Int, _ user: Int, _ text: StaticString) {
    writeStart(i, user)
    out.raw(text)
    out.raw("}")
  }

  private func writeStart(_ i: Int, _ user: Int) {
    out.raw("{\"notification_id\":\"hostile-")
    out.digits(i)
    out.raw("\",\"user_id\":\"")
    out.uuidText(workload.userID(user))
    out.raw("\"")
  }

  private static let kinds: [Kind] = [
    // No object, or not one alone.
    .bytes("hello"), .bytes("null"), .bytes("[]"), .bytes("{}"), .bytes("{"), .bytes("42 "),
    .bytes("{\"notification_id\":\"h\",\"user_id\":\"u\",\"category\":\"social\"} trailing"),
    .bytes("{\"notification_id\":\"h\",\"user_id\":\"u\",\"category\":\"social\"}{}"),
    .bytes("\u{FEFF}{\"notification_id\":\"h\",\"user_id\":\"u\",\"category\":\"social\"}"),
    .bytes("{'notification_id':'h','user_id':'u','category':'social'}"),
    .bytes("{\"notification_id\":\"h\",\"user_id\":\"u\",\"category\":\"soci"),
    // Ids.
    .bytes("{\"notification_id\":\"h\",\"category\":\"social\"}"),
    .bytes("{\"notification_id\":\"h\",\"user_id\":\"\",\"category\":\"social\"}"),
    .bytes("{\"notification_id\":\"h\",\"user_id\":42,\"category\":\"social\"}"),
    .bytes("{\"notification_id\":\"h\",\"user_id\":null,\"category\":\"social\"}"),
    .bytes("{\"notification_id\":\"a\\u0000b\",\"user_id\":\"u\",\"category\":\"social\"}"),
    .bytes("{\"notification_id\":\"a\\u001bb\",\"user_id\":\"u\",\"category\":\"social\"}"),
    .bytes("{\"notification_id\":\"\\ud800\",\"user_id\":\"u\",\"category\":\"social\"}"),
    .repeated("{\"notification_id\":\"", "n", 129, "\",\"user_id\":\"u\",\"category\":\"social\"}"),
    // Categories.
    .members(""), .members(",\"category\":null"), .members(",\"category\":\"\""),
    .members(",\"category\":\"Social\""), .members(",\"category\":\"promo\""),
    .members(",\"category\":[\"social\"]"),
    .members(",\"category\":\"marketing\",\"event\":\"payment_failed\""),
    .members(",\"category\":\"marketing\",\"critical\":true"),
    .members(",\"category\":\"security\",\"event\":\"2fa_code\",\"critical\":true"),
    // Members twice, plainly and by an escape.
    .members(",\"category\":\"marketing\",\"category\":\"security\""),
    .members(",\"category\":\"marketing\",\"c\\u0061tegory\":\"security\""),
    // Values.
    .members(",\"category\":\"social\",\"critical\":\"true\""),
    .members(",\"category\":\"social\",\"payload\":\"text\""),
    .members(",\"category\":\"social\",\"expires_at\":\"tomorrow\""),
    .members(",\"category\":\"social\",\"expires_at\":\"2026-02-30T00:00:00Z\""),
    .members(",\"category\":\"social\",\"expires_at\":\"2026-03-09T00:00:00\""),
    .members(",\"category\":\"social\",\"expires_at\":946684799999"),
    .members(",\"category\":\"social\",\"expires_at\":1.7e12"),
    .members(",\"category\":\"social\",\"device_id\":\"nobody-has-this\""),
    .members(",\"category\":\"social\",\"payload\":{\"n\":01}"),
    .members(",\"category\":\"social\",\"payload\":{\"n\":NaN}"),
    .members(",\"category\":\"social\",\"payload\":{\"tab\":\"\t\"}"),
    // Bytes.
    .invalidUTF8([0xFF, 0xFE]), .invalidUTF8([0xC0, 0x80]), .invalidUTF8([0xED, 0xA0, 0x80]),
    .invalidUTF8([0xF5, 0x80, 0x80, 0x80]), .invalidUTF8([0xE2, 0x82]), .invalidUTF8([0x00]),
    // Sizes.
    .payload(5000), .payload(70_000), .payload(900_000),
    .repeated("{\"payload\":", "[", 65, ""), .repeated("", "[", 100_000, ""),
    .repeated("{\"payload\":{\"a\":", "[", 100_000, "1"),
  ]
}
