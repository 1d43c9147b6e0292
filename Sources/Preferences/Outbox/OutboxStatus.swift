import Kafka
import Synchronization

/// How the publishing of one topic goes; read by anybody.
public final class OutboxStatus: Sendable {
  /// What the topic is called.
  public let topic: String
  /// Records that are on Kafka, and those a newer one of which is in their place; one that was
  /// published again counts again.
  public let published = EventCount()
  /// Times that records were refused.
  public let failed = EventCount()

  private struct Refusal: Sendable {
    var words: String
    var keys: Int
  }
  private let present = Mutex<Refusal?>(nil)

  init(topic: String) { self.topic = topic }

  /// Why nothing, or not everything, of this topic is taken; nil where all goes well.
  public var refusal: String? { present.withLock { $0?.words } }

  /// How many keys' records are refused while the topic takes others'; 0 also where it takes none.
  public var refusedKeys: Int { present.withLock { $0?.keys ?? 0 } }

  func refuse(_ error: KafkaError, keys: Int) {
    let words = keys == 0 ? "\(error)" : "records of \(keys) keys: \(error)"
    present.withLock { $0 = Refusal(words: words, keys: keys) }
  }

  func clear() { present.withLock { $0 = nil } }
}
