import Gate
import Kafka
import Telemetry

/// From a record to what it means for the store.
final class IntakeDecoder: Sendable {
  let eventTopic: String
  let receiptTopic: String
  private let settings: IntakeSettings
  private let counters: IntakeCounters
  private let log: Logger

  init(
    eventTopic: String, receiptTopic: String, settings: IntakeSettings, counters: IntakeCounters,
    log: Logger
  ) {
    self.eventTopic = eventTopic
    self.receiptTopic = receiptTopic
    self.settings = settings
    self.counters = counters
    self.log = log
  }

  var topics: [String] { [eventTopic, receiptTopic] }

  /// Nil where the record has no effect.
  func decode(
    _ partition: IntakePartition, offset: Int64, key: UnsafeRawBufferPointer?,
    value: UnsafeRawBufferPointer?
  ) -> IntakeRecord? {
    var record = IntakeRecord(
      partition: partition, offset: offset, content: .unreadable(EventFault(.malformedJSON, "", ""))
    )
    if partition.topic == receiptTopic {
      counters.receipts.add()
      guard let value, let event = ReceiptReader.event(value, eventID: record.place) else {
        return nil
      }
      counters.feedback.add()
      record.content = .user(event)
      return record
    }
    counters.events.add()
    record.content = content(key: key, value: value)
    if case .unreadable(let fault) = record.content {
      counters.unreadable.add()
      log.warning(
        "An event cannot be taken; it changes nothing and is on record.",
        [
          "kafka.topic": .string(partition.topic), "kafka.partition": .integer(partition.number),
          "kafka.offset": .integer(offset), "event.fault": .string(fault.code.rawValue),
          "event.member": .string(fault.member), "reason": .string(fault.words),
        ])
    }
    return record
  }

  private func content(
    key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?
  ) -> IntakeRecord.Content {
    guard let value else {
      return .unreadable(
        EventFault(.malformedJSON, "", "has no value; erase a user over HTTP"))
    }
    do throws(EventFault) {
      switch try EventDecoder.decode(value) {
      case .user(let event):
        if let fault = fault(of: event, key: key) { return .unreadable(fault) }
        return .user(event)
      case .defaults(let event):
        guard settings.takesAdminEvents else {
          return .unreadable(notHere("type", event: event.eventID, user: nil))
        }
        return .defaults(event)
      }
    } catch {
      return .unreadable(error)
    }
  }

  private func fault(of event: PreferenceEvent, key: UnsafeRawBufferPointer?) -> EventFault? {
    // In another partition than the user's own, events of one user would overtake each other.
    guard let key, key.elementsEqual(event.userID.text.utf8) else {
      var fault = EventFault(.contradictory, "user_id", "is not the record's key; write both alike")
      fault.userID = event.userID
      fault.eventID = event.eventID
      return fault
    }
    // Who wrote cannot be seen here, so that nobody is believed more than an app is.
    guard !settings.takesAdminEvents, let denial = EventRights.denial(.app, event) else {
      return nil
    }
    return notHere(denial.member, event: event.eventID, user: event.userID)
  }

  private func notHere(_ member: String, event: Identifier, user: Identifier?) -> EventFault {
    var fault = EventFault(
      .unknownValue, member,
      "is not an app's to say, and who says it is not told apart on this topic; use the service's "
        + "HTTP interface"
    )
    fault.userID = user
    fault.eventID = event
    return fault
  }
}
