import Gate
import Workload

/// Signed links for the users of candidates, and nothing else.
final class Signing {
  private let writer = LinkWriter(SignedLinks.settings.keys)
  private let ids: [(user: UnsafeRawBufferPointer, notification: UnsafeRawBufferPointer)]
  private let out = UnsafeMutablePointer<UInt8>.allocate(capacity: LinkWriter.tokenBytesMax)
  private(set) var textBytes = 0

  /// The keys are the users' ids; an id of a notification is as long as those of the workload.
  init(_ candidates: Candidates, _ count: Int) {
    let notification = UnsafeMutableRawBufferPointer.allocate(byteCount: 36, alignment: 1)
    notification.copyBytes(from: "0b9e6f2a-5a1f-4a43-9c51-7c0b2f6a1d10".utf8)
    let id = UnsafeRawBufferPointer(notification)
    ids = candidates.records.prefix(count).map { ($0.key!, id) }
  }

  deinit { out.deallocate() }

  func sign() {
    for (user, notification) in ids {
      textBytes &+= writer.write(
        .unsubscribe, category: .marketing, user: user, notification: notification,
        expiresAtSeconds: 1_790_000_000, into: out)
    }
  }
}
