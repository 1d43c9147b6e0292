import CCrypto

/// Who is sent what, on which device: the identity of a send, as the 128 bits that a provider is given
/// to recognise a repeated one by.
struct SendID: Hashable {
  private let high: UInt64
  private let low: UInt64

  /// - Parameter deviceID: nil for what goes to the user and not to one device, an SMS.
  init(userID: String, notificationID: String, deviceID: String?) {
    // Ids contain no control characters, so what is joined by NUL can be told apart again.
    let joined = [userID, notificationID, deviceID].compactMap(\.self).joined(separator: "\0")
    var digest = [UInt8](repeating: 0, count: 32)
    Array(joined.utf8).withUnsafeBytes { cc_sha256($0.baseAddress, $0.count, &digest) }
    func word(_ from: Int) -> UInt64 {
      digest[from..<(from + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    // A UUID of version 8 (RFC 9562), which leaves the other bits to whoever makes one.
    high = word(0) & ~0xF000 | 0x8000
    low = word(8) & ~(0b11 << 62) | 0b10 << 62
  }

  /// As `apns-id` wants it: `9f86d081-884c-8d65-9a2f-eaa0c55ad015`.
  var uuid: String {
    let digits = [high, low].map { word in
      let text = String(word, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }.joined()
    var text = ""
    for (i, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(i) { text.append("-") }
      text.append(digit)
    }
    return text
  }

  /// A number below `bound` that depends on this id, the seed and the purpose alone.
  func draw(seed: UInt64, purpose: UInt64, below bound: Int) -> Int {
    var random = Random(seed: seed ^ high, stream: purpose, index: low)
    return random.below(bound)
  }
}
