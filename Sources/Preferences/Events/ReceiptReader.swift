import Gate

/// What a receipt says of a token (requirements R3).
public enum ReceiptReader {
  /// Nil where it says nothing of one: an acceptance, a code that changes nothing, a tap; or where it
  /// cannot be read, which is the dispatcher's to answer for and changes nothing either.
  /// - Parameter eventID: the same for the same receipt, such as its topic, partition and offset.
  public static func event(
    _ receipt: UnsafeRawBufferPointer, eventID: Identifier
  ) -> PreferenceEvent? {
    guard receipt.count <= EventDecoder.bytesMax, let tree = try? JSONValue(receipt) else {
      return nil
    }
    let root = EventNode(path: "", value: tree)
    guard root.optional("event") == nil, (try? root.optional("status")?.string("")) == "rejected",
      let user = try? root.optional("user_id")?.id(),
      let device = try? root.optional("device_id")?.id(),
      let provider = try? root.optional("provider")?.oneOf(PushProvider.allCases, \.rawValue),
      let code = try? root.optional("code")?.string(""),
      let atMs = try? root.optional("at")?.instant(),
      ProviderCode.meaning(provider, code) != nil
    else { return nil }
    return PreferenceEvent(
      eventID: eventID, userID: user, atMs: atMs,
      body: .tokenFeedback(device, provider, code: code))
  }
}
