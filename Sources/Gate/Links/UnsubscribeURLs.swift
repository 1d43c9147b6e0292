/// The `unsubscribe_url` of a lane's approvals: its links are good from the instant of their batch on.
final class UnsubscribeURLs {
  /// Of a value, quotes included.
  let bytesMax: Int
  private let writer: LinkWriter
  private let lifetimeSeconds: Int64
  private var expiresAtSeconds: Int64 = 0
  /// The quote, the address and `/u/`.
  private let prefix: Bytes

  init(_ settings: LinkSettings) {
    writer = LinkWriter(settings.keys)
    lifetimeSeconds = settings.lifetimeSeconds
    let text = Array("\"\(settings.baseURL)/u/".utf8)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    copy.copyBytes(from: text)
    prefix = Bytes(copy)
    bytesMax = text.count + LinkWriter.tokenBytesMax + 1
  }

  deinit { prefix.deallocate() }

  func startBatch(nowMs: Int64) { expiresAtSeconds = nowMs / 1000 + lifetimeSeconds }

  /// The link that mutes the candidate's category, in quotes. There is room for `bytesMax`.
  @inline(__always)
  func write(_ candidate: Candidate, to out: inout JSONWriter) {
    out.raw(prefix)
    out.written(
      writer.write(
        .unsubscribe, category: candidate.category, user: candidate.userID!,
        notification: candidate.notificationID!, expiresAtSeconds: expiresAtSeconds, into: out.end))
    out.byte(UInt8(ascii: "\""))
  }
}
