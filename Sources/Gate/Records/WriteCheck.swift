/// What a check says of a record before it is written.
public enum WriteVerdict {
  /// It may be written under this key, which lives as long as the record and until the next check.
  case good(userID: UnsafeRawBufferPointer)
  /// Why not, in words that name the member where there is one.
  case refused(String)
}

/// Whether the gate could read a candidate: the first row of the decision table, asked where the
/// candidate is produced. A mistake told there costs its author a minute; told by a dropped record, a
/// day.
public struct CandidateCheck: ~Copyable {
  private var decoder: CandidateDecoder
  private let lane: Lane
  private let recordBytesMax: Int

  public init(lane: Lane, policy: Policy) {
    decoder = CandidateDecoder(
      batchRecordsMax: 1, seed: UInt64.random(in: 0...UInt64.max))
    self.lane = lane
    recordBytesMax = policy.rules.recordBytesMax
  }

  public mutating func check(_ value: UnsafeRawBufferPointer) -> WriteVerdict {
    decoder.startBatch()
    var candidate = decoder.decode(value, bytesMax: recordBytesMax)
    if candidate.invalid == nil, lane == .security, candidate.category != .security {
      candidate.invalid = .categoryNotForTopic
    }
    guard let detail = candidate.invalid else { return .good(userID: candidate.userID!) }
    let member = candidate.invalidMember.map { " (\($0.name))" } ?? ""
    return .refused("\(detail.name)\(member)")
  }
}

/// Whether a preference document may be stored. Stricter than the gate's own reading, which must make
/// do with what it finds: a zone, category, time, source or region that does not exist, a window that
/// cannot be read, and a security `user-off` that is not an administrator's are refused here
/// (requirements C6).
public struct DocumentCheck: ~Copyable {
  private var decoder: DocumentDecoder
  private let zones: ZonePublisher

  public init(zones: ZonePublisher) {
    self.zones = zones
    decoder = DocumentDecoder(zones: zones, seed: UInt64.random(in: 0...UInt64.max))
  }

  public mutating func check(_ value: UnsafeRawBufferPointer) -> WriteVerdict {
    let notes: DocumentNotes
    do throws(DocumentFault) {
      notes = try decoder.decode(value, key: nil, offset: 0).notes
    } catch {
      return .refused("the document \(error.words)")
    }
    if notes.contains(.unknownZone) { return .refused(unknownZone()) }
    if notes.contains(.invalidWindow) {
      return .refused("quiet_hours wants start and end as HH:MM, and days as mon to sun")
    }
    if notes.contains(.securityOffIgnored) {
      return .refused("security can be switched off by admin_override alone")
    }
    let oversights = decoder.lastOversights
    if oversights.contains(.unknownCategory) {
      return .refused(
        "categories and muted_subtypes want transactional, security, social or marketing, spelt so")
    }
    if oversights.contains(.unreadableTime) {
      return .refused(
        "at wants an instant such as 2025-10-01T09:00:00Z, or milliseconds, from 2000 to 2200")
    }
    if oversights.contains(.unknownSource) {
      return .refused(
        "source wants in_app_settings, os_settings_sync, unsubscribe_link or admin_override")
    }
    if oversights.contains(.unknownRegion) {
      return .refused("region wants an ISO 3166-1 alpha-2 code in upper case, or null")
    }
    // Without one the decoder had thrown.
    return .good(userID: decoder.lastUserID!)
  }

  private func unknownZone() -> String {
    guard let bytes = decoder.lastUnknownZone else { return "timezone is no string" }
    let name = String(decoding: bytes, as: UTF8.self)
    let near = zones.suggestions(for: name)
    let hint = near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
    return "timezone \(name) is not in the tz database\(hint)"
  }
}
