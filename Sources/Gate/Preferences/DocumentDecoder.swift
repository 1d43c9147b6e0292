/// Reads a preference document into the words of a `PackedBlock`. The writer's alone; its memory is
/// kept from one document to the next.
struct DocumentDecoder: ~Copyable {
  /// Kafka's own default for the largest message, and then some.
  static let documentBytesMax = 2 << 20

  private let indexer = JSONIndexer(capacity: 16_384)
  private let names: MemberNames
  private var scratch: UnsafeMutablePointer<UInt8>
  private var scratchBytes = 16_384
  private var reading: DocumentReading

  init(zones: ZonePublisher, seed: UInt64) {
    reading = DocumentReading(zones: zones)
    names = MemberNames(seed: seed)
    scratch = .allocate(capacity: scratchBytes)
  }

  deinit { scratch.deallocate() }

  /// The words live until the next call.
  /// - Parameter key: the record's, which the document's `user_id` must equal; nil: not known.
  mutating func decode(
    _ value: Bytes, key: Bytes?, offset: Int64
  ) throws(DocumentFault) -> (words: [UInt64], version: Int64?, notes: DocumentNotes) {
    try read(value)
    guard let user = reading.draft.userID else { throw .missingUserID }
    if let key, !key.equals(user) { throw .otherUser }
    reading.draft.pack(offset: offset)
    guard reading.draft.words.count < BlockArena.blockWordsMax else { throw .tooLarge }
    return (reading.draft.words, reading.draft.version, reading.draft.notes)
  }

  /// The user that the last document read names, so far as it could be read.
  var lastUserID: Bytes? { reading.draft.userID }

  /// The last zone of that document which is none.
  var lastUnknownZone: Bytes? { reading.draft.unknownZone }

  /// What the last document read says that nobody means.
  var lastOversights: DocumentOversights { reading.draft.oversights }

  private mutating func read(_ value: Bytes) throws(DocumentFault) {
    reading.reset()
    guard value.count > 0 else { throw .malformedJSON }
    guard value.count <= Self.documentBytesMax else { throw .tooLarge }
    if value.count > scratchBytes {
      scratch.deallocate()
      scratchBytes = value.count
      scratch = .allocate(capacity: scratchBytes)
    }
    do throws(JSONFault) {
      var reader = JSONReader(
        value, positions: try indexer.index(value), scratch: scratch, names: names)
      try reading.read(&reader)
      try reader.finish()
    } catch {
      throw reading.fault ?? DocumentFault(error)
    }
  }
}

/// The walk over one document.
struct DocumentReading {
  var draft = DocumentDraft()
  private let zones: ZonePublisher
  /// What was wrong, where it was not the JSON.
  private(set) var fault: DocumentFault?

  init(zones: ZonePublisher) { self.zones = zones }

  mutating func reset() {
    draft.reset()
    fault = nil
  }

  private mutating func stop(_ fault: DocumentFault) -> JSONFault {
    self.fault = fault
    return .wrongType
  }

  mutating func read(_ reader: inout JSONReader) throws(JSONFault) {
    try reader.readObject { (reader, name) throws(JSONFault) in
      if name.equals("devices") {
        if try reader.readNull() { return }
        try readDevices(&reader)
      } else if name.equals("account") {
        if try reader.readNull() { return }
        try readAccount(&reader)
      } else if name.equals("user_id") {
        let id = try reader.readString()
        guard CandidateDecoder.isID(id) else { throw stop(.malformedID) }
        draft.userID = id
      } else if name.equals("version") {
        if try reader.readNull() { return }
        guard reader.peek != UInt8(ascii: "\""),
          let version = JSONText.integer(try reader.readNumber()), 0...(1 << 53) ~= version
        else { throw stop(.malformedVersion) }
        draft.version = version
      } else {
        try reader.skip()
      }
    }
  }

  private mutating func readAccount(_ reader: inout JSONReader) throws(JSONFault) {
    var account = draft.account
    try reader.readObject { (reader, name) throws(JSONFault) in
      if name.equals("quiet_hours") {
        // Null on an account counts as absent.
        account.quietHours = try readWindow(&reader, nullMeans: .absent)
      } else if name.equals("sms") {
        if try reader.readNull() { return }
        let (choice, at, _) = try readChoice(&reader)
        if choice == .userOn, let at { draft.addSMSConsent(at) }
      } else {
        try readCommon(&account, PackedBlock.accountScope, name, &reader)
      }
    }
    draft.account = account
  }

  private mutating func readDevices(_ reader: inout JSONReader) throws(JSONFault) {
    try reader.readArray { (reader) throws(JSONFault) in
      guard draft.devices.count < PackedBlock.devicesMax else { throw stop(.tooManyDevices) }
      var device = DocumentDraft.Device()
      let scope = draft.devices.count
      try reader.readObject { (reader, name) throws(JSONFault) in
        if name.equals("device_id") {
          let id = try reader.readString()
          guard CandidateDecoder.isID(id) else { throw stop(.malformedID) }
          device.id = id
        } else if name.equals("platform") {
          device.platform = try readEnum(&reader, Platform.self, \.name, .unknownPlatform)
        } else if name.equals("os_permission") {
          device.osPermission = try readEnum(
            &reader, OSPermission.self, \.name, .unknownPermission)
        } else if name.equals("token_status") {
          device.tokenStatus = try readEnum(&reader, TokenStatus.self, \.name, .unknownTokenStatus)
        } else if name.equals("region") {
          if reader.peek == UInt8(ascii: "\"") {
            let code = try reader.readString()
            device.region = Region(code)
            // Codes that ISO leaves to its users, such as XK, are in the data of real systems, and no
            // mistake of whoever writes them: like any unknown one they count as regulated.
            if !Region.isCode(code) { draft.oversights.insert(.unknownRegion) }
          } else if try !reader.readNull() {
            draft.oversights.insert(.unknownRegion)
            try reader.skip()
          }
        } else if name.equals("quiet_hours") {
          device.scope.quietHours = try readWindow(&reader, nullMeans: .null)
        } else {
          try readCommon(&device.scope, scope, name, &reader)
        }
      }
      guard let id = device.id else { throw stop(.missingDeviceID) }
      guard device.platform != nil else { throw stop(.missingPlatform) }
      guard device.osPermission != nil else { throw stop(.missingPermission) }
      guard device.tokenStatus != nil else { throw stop(.missingTokenStatus) }
      for other in draft.devices where other.id!.equals(id) { throw stop(.repeatedDevice) }
      draft.devices.append(device)
    }
  }

  /// What an account and a device have alike.
  private mutating func readCommon(
    _ scope: inout DocumentDraft.Scope, _ number: Int, _ name: Bytes, _ reader: inout JSONReader
  ) throws(JSONFault) {
    if name.equals("categories") {
      if try reader.readNull() { return }
      var choices = scope.choices
      try reader.readObject { (reader, name) throws(JSONFault) in
        guard let category = Category(name: name) else {
          draft.oversights.insert(.unknownCategory)
          return try reader.skip()
        }
        if try reader.readNull() { return }
        var (choice, at, source) = try readChoice(&reader)
        if category == .security, choice == .userOff, source != .adminOverride {
          choice = .unset
          draft.notes.insert(.securityOffIgnored)
        }
        choices[category] = choice
        if choice == .userOn, let at { draft.addConsent(at, scope: number, category: category) }
      }
      scope.choices = choices
    } else if name.equals("muted_subtypes") {
      if try reader.readNull() { return }
      try reader.readObject { (reader, name) throws(JSONFault) in
        guard let category = Category(name: name) else {
          draft.oversights.insert(.unknownCategory)
          return try reader.skip()
        }
        if try reader.readNull() { return }
        try reader.readArray { (reader) throws(JSONFault) in
          let subtype = try reader.readString()
          // A longer one can match no candidate; mutes never touch security.
          guard subtype.count <= CandidateDecoder.textBytesMax, category != .security else {
            return
          }
          draft.addMute(subtype, scope: number, category: category)
        }
      }
    } else if name.equals("suppressions") {
      if try reader.readNull() { return }
      var mask = scope.suppressions
      try reader.readArray { (reader) throws(JSONFault) in
        let suppression = try readEnum(&reader, Suppression.self, \.name, .unknownSuppression)
        guard let suppression else { throw stop(.unknownSuppression) }
        mask |= 1 << suppression.rawValue
      }
      scope.suppressions = mask
    } else if name.equals("timezone") {
      scope.zone = try readZone(&reader)
    } else {
      try reader.skip()
    }
  }

  /// Nil for null, which counts as absent.
  private mutating func readEnum<E: CaseIterable>(
    _ reader: inout JSONReader, _: E.Type, _ name: (E) -> StaticString, _ unknown: DocumentFault
  ) throws(JSONFault) -> E? {
    if try reader.readNull() { return nil }
    guard reader.peek == UInt8(ascii: "\"") else { throw stop(unknown) }
    let text = try reader.readString()
    for value in E.allCases where text.equals(name(value)) { return value }
    throw stop(unknown)
  }

  /// The instant is there only where both a time and a known source are: what counts as consent.
  private mutating func readChoice(
    _ reader: inout JSONReader
  ) throws(JSONFault) -> (choice: Choice, at: Int64?, source: ChoiceSource?) {
    var choice = Choice.unset
    var at: Int64?
    var source: ChoiceSource?
    guard reader.peek == UInt8(ascii: "{") else { throw stop(.unknownChoice) }
    try reader.readObject { (reader, name) throws(JSONFault) in
      if name.equals("state") {
        choice = try readEnum(&reader, Choice.self, \.name, .unknownChoice) ?? .unset
      } else if name.equals("at") {
        if try reader.readNull() { return }
        switch reader.peek {
        case UInt8(ascii: "\""): at = Instant.parse(try reader.readString())
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
          at = JSONText.integer(try reader.readNumber())
            .flatMap { Instant.readable.contains($0) ? $0 : nil }
        default: try reader.skip()
        }
        if at == nil { draft.oversights.insert(.unreadableTime) }
      } else if name.equals("source") {
        if try reader.readNull() { return }
        if reader.peek == UInt8(ascii: "\"") {
          let text = try reader.readString()
          source = ChoiceSource.allCases.first { text.equals($0.name) }
        } else {
          try reader.skip()
        }
        if source == nil { draft.oversights.insert(.unknownSource) }
      } else {
        try reader.skip()
      }
    }
    return (choice, source == nil ? nil : at, source)
  }

  /// A well-formed id is kept even where the database does not have it yet: an update may bring it.
  private mutating func readZone(_ reader: inout JSONReader) throws(JSONFault) -> UInt16 {
    if try reader.readNull() { return 0 }
    guard reader.peek == UInt8(ascii: "\"") else {
      draft.notes.insert(.unknownZone)
      try reader.skip()
      return 0
    }
    let name = try reader.readString()
    let zone = zones.intern(name)
    if zone == 0 || !zones.current.isKnown(zone) {
      draft.notes.insert(.unknownZone)
      draft.unknownZone = name
    }
    return zone
  }

  /// A window that cannot be read is kept as that; the rest of the document still counts.
  private mutating func readWindow(
    _ reader: inout JSONReader, nullMeans: PackedPlace.WindowKind
  ) throws(JSONFault) -> DocumentDraft.Window {
    var found = DocumentDraft.Window()
    if try reader.readNull() {
      found.kind = nullMeans
      return found
    }
    found.kind = .invalid
    guard reader.peek == UInt8(ascii: "{") else {
      draft.notes.insert(.invalidWindow)
      try reader.skip()
      return found
    }
    var start: UInt16?
    var end: UInt16?
    var days: UInt8? = QuietWindow.everyDay
    try reader.readObject { (reader, name) throws(JSONFault) in
      if name.equals("start") || name.equals("end") {
        guard reader.peek == UInt8(ascii: "\"") else { return try reader.skip() }
        let text = try reader.readString()
        if name.equals("start") {
          start = QuietWindow.startMinute(text)
        } else {
          end = QuietWindow.endMinute(text)
        }
      } else if name.equals("days") {
        days = try readDays(&reader)
      } else {
        try reader.skip()
      }
    }
    if let start, let end, let days {
      // No minute is inside: no window, and on a device none in place of the account's.
      found.kind = start == end || days == 0 ? .null : .set
      found.value = QuietWindow(startMinute: start, endMinute: end, days: days)
    } else {
      draft.notes.insert(.invalidWindow)
    }
    return found
  }

  /// Nil where a day cannot be read.
  private mutating func readDays(_ reader: inout JSONReader) throws(JSONFault) -> UInt8? {
    if try reader.readNull() { return QuietWindow.everyDay }
    guard reader.peek == UInt8(ascii: "[") else {
      try reader.skip()
      return nil
    }
    var days: UInt8? = 0
    try reader.readArray { (reader) throws(JSONFault) in
      guard reader.peek == UInt8(ascii: "\"") else {
        days = nil
        return try reader.skip()
      }
      guard let day = QuietWindow.weekday(try reader.readString()) else {
        days = nil
        return
      }
      days = days.map { $0 | 1 << day }
    }
    return days
  }
}
