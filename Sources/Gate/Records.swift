/// One Kafka record as it came in. Borrowed: the bytes belong to the source and live until the batch
/// it came with is released.
public struct InputRecord {
  public var partition: Int32
  public var offset: Int64
  /// The record's Kafka timestamp, milliseconds since the epoch; `created_at` defaults to it.
  public var timestampMs: Int64
  /// Nil for a null key; an empty key is a zero-length buffer.
  public var key: UnsafeRawBufferPointer?
  /// Nil for a null value; an empty value is a zero-length buffer.
  public var value: UnsafeRawBufferPointer?
  /// The source's own handle of this record, by which the sink reads its headers. Opaque here.
  public var handle: OpaquePointer?

  public init(
    partition: Int32, offset: Int64, timestampMs: Int64,
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, handle: OpaquePointer?
  ) {
    self.partition = partition
    self.offset = offset
    self.timestampMs = timestampMs
    self.key = key
    self.value = value
    self.handle = handle
  }
}

/// One record to write. It goes to the topic of `outcome`, to the partition of the input it came
/// from. Borrowed: the bytes belong to the engine and live until its next call.
public struct OutputRecord {
  public var outcome: Outcome
  public var reason: Reason
  /// Nil where the candidate's category could not be read or is outside the enum.
  public var category: Category?
  /// Position in the batch of the input this came from.
  public var inputIndex: Int
  /// The user id, or for a hold `user_id NUL notification_id NUL device_id`. Nil only where the
  /// input is invalid, names no user, and has no key that could be one.
  public var key: UnsafeRawBufferPointer?
  /// JSON, one object.
  public var value: UnsafeRawBufferPointer
  /// For the header of that name; nil where it could not be read.
  public var notificationID: UnsafeRawBufferPointer?
  /// The device judged; nil where the reason concerns the candidate itself.
  public var deviceID: UnsafeRawBufferPointer?
  /// Of a deferral: what the holder of the hold needs to know of it; nil of any other.
  public var hold: HoldTimes?
  /// The candidate's; an approval or a hold takes the place of an older hold that has the same.
  public var collapseKey: UnsafeRawBufferPointer?
  /// Of an approval: whose it is (`PreferenceTable.userHash`), and the offset of the document that it
  /// was decided by.
  public var user: UInt64
  public var preferenceOffset: Int64

  public init(
    outcome: Outcome, reason: Reason, category: Category?, inputIndex: Int,
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer,
    notificationID: UnsafeRawBufferPointer?, deviceID: UnsafeRawBufferPointer? = nil,
    collapseKey: UnsafeRawBufferPointer? = nil, hold: HoldTimes? = nil, user: UInt64 = 0,
    preferenceOffset: Int64 = -1
  ) {
    self.outcome = outcome
    self.reason = reason
    self.category = category
    self.inputIndex = inputIndex
    self.key = key
    self.value = value
    self.notificationID = notificationID
    self.deviceID = deviceID
    self.collapseKey = collapseKey
    self.hold = hold
    self.user = user
    self.preferenceOffset = preferenceOffset
  }
}

/// One record for the lane's state topic, at a partition named explicitly: keys there do not lead to
/// it. Borrowed: the bytes live until the next call of what made it.
public struct StateRecord {
  public var partition: Int32
  public var key: UnsafeRawBufferPointer
  /// Nil forgets the key.
  public var value: UnsafeRawBufferPointer?

  public init(partition: Int32, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?) {
    self.partition = partition
    self.key = key
    self.value = value
  }
}
