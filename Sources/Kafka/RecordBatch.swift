import CKafka
import Glibc

/// One record of a batch, or one event of a partition. Borrowed from the batch.
public struct RecordView {
  let raw: UnsafePointer<ck_record>

  public var partition: Int32 { raw.pointee.partition }
  public var offset: Int64 { raw.pointee.offset }
  /// Milliseconds since the epoch; -1 where there is none.
  public var timestampMs: Int64 { raw.pointee.timestamp_ms }
  /// Nil for a null key, empty for an empty one.
  public var key: UnsafeRawBufferPointer? {
    raw.pointee.key.map { UnsafeRawBufferPointer(start: $0, count: raw.pointee.key_size) }
  }
  /// Nil for a null value (a tombstone), empty for an empty one.
  public var value: UnsafeRawBufferPointer? {
    raw.pointee.value.map { UnsafeRawBufferPointer(start: $0, count: raw.pointee.value_size) }
  }
  /// What a producer reads the record's headers from.
  public var handle: OpaquePointer { OpaquePointer(raw.pointee.message) }

  /// Whether it is of that topic; an event may be of none.
  public func isOf(_ topic: String) -> Bool {
    guard let handle = raw.pointee.message.pointee.rkt else { return false }
    return topic.withCString { strcmp(rd_kafka_topic_name(handle), $0) == 0 }
  }

  public var isRecord: Bool { raw.pointee.error == 0 }
  /// The partition was read to its end; `offset` is that end, control markers included.
  public var isEndOfPartition: Bool {
    raw.pointee.error == RD_KAFKA_RESP_ERR__PARTITION_EOF.rawValue
  }
  /// There is nothing at the offset asked for, and `auto.offset.reset` is `error`.
  public var isOutOfRange: Bool {
    raw.pointee.error == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET.rawValue
      || raw.pointee.error == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE.rawValue
  }

  /// Of an event that is neither a record nor an end: what the consumer has to report.
  public var error: KafkaError {
    let text = rd_kafka_message_errstr(raw.pointee.message).map { String(cString: $0) }
    // Of the group or the topic as a whole where there is no partition.
    return KafkaError(
      operation: partition < 0 ? "consume" : "consume, partition \(partition)", origin: .request,
      code: rd_kafka_resp_err_t(raw.pointee.error), reason: text)
  }
}

/// The records of one poll. Whoever polls releases before the next poll, and closes in the end.
public final class RecordBatch {
  let raw: OpaquePointer
  public private(set) var count = 0
  private var isOpen = true

  public init(recordsMax: Int) { raw = ck_batch_new(recordsMax) }

  deinit { precondition(!isOpen, "a record batch was dropped without close()") }

  public subscript(index: Int) -> RecordView {
    precondition(index < count)
    return RecordView(raw: ck_batch_records(raw) + index)
  }

  func poll(_ queue: OpaquePointer, timeoutMs: Int32) {
    count = ck_batch_poll(raw, queue, timeoutMs)
  }

  /// Everything borrowed from the batch is gone after this.
  public func release() {
    ck_batch_release(raw)
    count = 0
  }

  public func close() {
    release()
    isOpen = false
    ck_batch_free(raw)
  }
}
