import Glibc
import Kafka
import Pipeline

/// Polls a reader; while its caller works on a large batch, fills the next one on a thread of its own.
///
/// To take records out of librdkafka, read their headers and give them back is a third of a restore:
/// beside the lane's thread it costs the restore nothing.
///
/// All calls but the thread's are the lane's. The two hand a batch to and fro by semaphores: whoever
/// waits for one has it, and nobody else touches it then.
final class ReadAhead {
  /// Smaller batches are what a reader gets that has caught up: there is nothing to run ahead for.
  private static let aheadRecordsMin = 256

  /// The caller's.
  private var front: KeptBatch
  /// The thread's while it fills; else nobody's, and empty once that is over.
  private var back: KeptBatch
  private var isFilling = false
  private let filler: Filler
  private var thread: NamedThread?

  /// - Parameter topic: whose records' headers are kept; nil: none.
  init(_ reader: PartitionReader, keepingHeadersOf topic: String?, recordsMax: Int) {
    filler = Filler(reader, keepingHeadersOf: topic)
    front = KeptBatch(recordsMax: recordsMax)
    back = KeptBatch(recordsMax: recordsMax)
  }

  /// The next records, good until the next call of anything.
  func poll(timeoutMs: Int32) -> KeptBatch {
    if isFilling {
      filler.wait()
    } else {
      filler.fill(back, timeoutMs: timeoutMs)
    }
    swap(&front, &back)
    isFilling = front.records.count >= Self.aheadRecordsMin
    if isFilling {
      if thread == nil { thread = filler.start() }
      filler.ask(for: back, timeoutMs: timeoutMs)
    } else {
      back.records.release()
    }
    return front
  }

  /// The caller is through with what the last poll gave: where the next is being filled, the thread
  /// frees it before the one after that.
  func release() {
    if !isFilling { front.records.release() }
  }

  /// Drops what was read ahead: it is of what the reader was told to read before.
  func discard() {
    if isFilling { filler.wait() }
    isFilling = false
    front.records.release()
    back.records.release()
  }

  func close() {
    discard()
    if let thread {
      filler.end()
      thread.join()
    }
    front.records.close()
    back.records.close()
  }
}

/// Fills batches, and the thread that does so while the lane works.
private final class Filler: @unchecked Sendable {
  // Unchecked: `work` is written before `asked` is posted and read after; the batch in it is handed
  // back by `filled`.
  private var work: (batch: KeptBatch, timeoutMs: Int32)?
  private let asked = Semaphore()
  private let filled = Semaphore()
  private let reader: PartitionReader
  private let topic: String?

  init(_ reader: PartitionReader, keepingHeadersOf topic: String?) {
    self.reader = reader
    self.topic = topic
  }

  func start() -> NamedThread {
    NamedThread(name: "read-ahead") {
      while true {
        self.asked.wait()
        guard let (batch, timeoutMs) = self.work else { return }
        // What the caller was through with when it asked for this.
        batch.records.release()
        self.fill(batch, timeoutMs: timeoutMs)
        self.filled.post()
      }
    }
  }

  /// On whichever thread has the batch.
  func fill(_ batch: KeptBatch, timeoutMs: Int32) {
    batch.fill(from: reader, keepingHeadersOf: topic, timeoutMs: timeoutMs)
  }

  /// The batch is the thread's from here until `wait` is through.
  func ask(for batch: KeptBatch, timeoutMs: Int32) {
    work = (batch, timeoutMs)
    asked.post()
  }

  func wait() { filled.wait() }

  func end() {
    work = nil
    asked.post()
  }
}

private final class Semaphore: @unchecked Sendable {
  private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { precondition(sem_init(raw, 0, 0) == 0, "no semaphore") }

  deinit {
    sem_destroy(raw)
    raw.deallocate()
  }

  func post() { precondition(sem_post(raw) == 0, "a semaphore overflowed") }

  func wait() {
    // A signal that this thread happens to get is no post.
    while sem_wait(raw) != 0 { precondition(errno == EINTR, "a semaphore is gone") }
  }
}
