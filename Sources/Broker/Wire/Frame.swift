/// What a request says before its body.
public struct RequestHeader {
  public var key: ApiKey
  public var version: Int16
  public var correlationId: Int32
  public var clientId: String
}

/// One request as it came by a connection, less its four length bytes.
enum Frame {
  /// Decodes a frame. Throws `unsupportedVersion` for an ApiVersions request that is too new: the
  /// one kind that is answered all the same (KIP-511), since that is how clients find out.
  static func decode(_ frame: ByteSlice) throws(WireError) -> (RequestHeader, Request) {
    guard frame.count >= 8 else { throw .truncated }
    let start = UnsafeRawPointer(frame.start)
    let rawKey: Int16 = start.big(0)
    let version: Int16 = start.big(2)
    guard let key = ApiKey(rawValue: rawKey) else { throw .unknownApi(rawKey) }
    guard key.support.versions.contains(version) else {
      throw .unsupportedVersion(api: rawKey, version: version)
    }
    var c = Codec(
      reading: frame.slice(from: 8, count: frame.count - 8), version: version,
      flexible: key.isFlexible(version))
    var clientId: String?
    try c.headerString(&clientId)
    try c.tags()
    let header = RequestHeader(
      key: key, version: version, correlationId: start.big(4), clientId: clientId ?? "")
    return (header, try Request.decode(key, &c))
  }

  /// Encodes an answer with its length and correlation id.
  static func encode(
    _ response: Response, to key: ApiKey, version: Int16, correlationId: Int32
  ) throws(WireError) -> Codec {
    var c = Codec(writingVersion: version, flexible: key.isFlexible(version))
    var length: Int32 = 0
    var correlation = correlationId
    try c.int32(&length)
    try c.int32(&correlation)
    // The header of an ApiVersions answer has no tags in any version: the client cannot yet know
    // which versions the broker speaks when it reads it.
    if key != .apiVersions { try c.tags() }
    try response.encode(&c)
    c.setFrameLength()
    return c
  }
}
