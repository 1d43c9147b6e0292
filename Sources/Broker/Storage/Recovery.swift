/// Taking up where a killed process left off: the journal first, then the logs of the topics it
/// names, then the transactions that were decided and not carried out.
extension BrokerCore {
  func recover(from disk: any Disk) {
    let bytes = disk.read(Journal.file)
    let (entries, sound) = Journal.read(bytes)
    if sound < bytes.count { disk.truncate(Journal.file, to: sound) }
    var starts: [TopicPartition: Int64] = [:]
    for entry in entries { apply(entry, &starts) }
    recoverLogs(disk, starts)
    let journal = Journal(disk: disk, size: sound)
    self.journal = journal
    journal.rewrite(snapshot())
    resume()
  }

  private func apply(_ entry: JournalEntry, _ starts: inout [TopicPartition: Int64]) {
    switch entry {
    case .topic(let entry):
      var settings: [String: String] = [:]
      for item in entry.settings { settings[item.name] = item.value }
      let topic = topics[entry.name] ?? Topic(name: entry.name, settings: [:], defaults: [:])
      topic.settings = settings
      topic.limits = TopicLimits(own: settings, defaults: config.topicDefaults)
      while topic.partitions.count < Int(entry.partitionCount) {
        let name = TopicPartition(topic.name, Int32(topic.partitions.count))
        topic.partitions.append(Partition(name: name, disk: disk))
      }
      topics[entry.name] = topic
    case .topicDeleted(let entry):
      topics[entry.name] = nil
      starts = starts.filter { $0.key.topic != entry.name }
    case .logStart(let entry): starts[entry.partition.value] = entry.offset
    case .producerIds(let next): nextProducerId = next
    case .transaction(let entry): transactions[entry.id] = entry.transaction
    case .group(let entry):
      let group = groups[entry.id] ?? Group(id: entry.id)
      entry.restore(group)
      groups[entry.id] = group
    case .groupDeleted(let entry): groups[entry.name] = nil
    case .offsets(let entry):
      let group = groups[entry.group] ?? Group(id: entry.group)
      groups[entry.group] = group
      for item in entry.offsets {
        commitOrder = max(commitOrder, item.committed.order)
        if entry.producerId < 0 {
          group.offsets[item.partition.value] = item.committed
        } else {
          group.pendingOffsets[entry.producerId, default: [:]][item.partition.value] =
            item.committed
        }
      }
    case .transactionalOffsetsEnd(let entry):
      if let group = groups[entry.group] {
        settleOffsets(of: group, producerId: entry.producerId, commit: entry.committed)
      }
    case .offsetsDeleted(let entry):
      for name in entry.partitions { groups[entry.group]?.offsets[name.value] = nil }
    }
  }

  private func recoverLogs(_ disk: any Disk, _ starts: [TopicPartition: Int64]) {
    // Names are padded to one length, so their order is the offsets' order.
    for file in disk.files().sorted() where file != Journal.file {
      let parts = file.split(separator: "/")
      guard parts.count == 4, parts[0] == "logs", let index = Int32(parts[2]),
        let base = Int64(parts[3].dropLast(4)), let partition = partition(String(parts[1]), index)
      else {
        // Left over from a topic that is no more, or no file of ours.
        if parts.first == "logs" { disk.remove(file) }
        continue
      }
      let bytes = disk.read(file)
      let sound = partition.log.recover(bytes, baseOffset: base, nowMs: nowMs)
      if sound < bytes.count { disk.truncate(file, to: sound) }
    }
    for topic in topics.values {
      for partition in topic.partitions {
        partition.log.recoverStart(starts[partition.name] ?? 0)
      }
    }
  }

  /// Sets the timers that were running, and ends what was decided.
  private func resume() {
    for id in groups.keys.sorted() {
      for member in groups[id]!.members { hear(from: member, in: groups[id]!) }
    }
    for id in transactions.keys.sorted() {
      let transaction = transactions[id]!
      if transaction.state == .ongoing { watch(transaction) }
      if transaction.isEnding { writeMarkers(id, isRecovery: true) }
    }
  }

  /// All of the state, as the entries that make it.
  func snapshot() -> [JournalEntry] {
    var entries: [JournalEntry] = [.producerIds(nextProducerId)]
    for name in topics.keys.sorted() {
      let topic = topics[name]!
      entries.append(.topic(TopicEntry(topic)))
      for partition in topic.partitions where partition.log.startOffset > 0 {
        entries.append(.logStart(LogStartEntry(partition.name, partition.log.startOffset)))
      }
    }
    for id in transactions.keys.sorted() {
      entries.append(.transaction(TransactionEntry(transactions[id]!)))
    }
    for id in groups.keys.sorted() {
      let group = groups[id]!
      // A rebalance under way is not kept, only what the last one came to: its members were not
      // told of the new generation, or will be told to join again.
      entries.append(.group(group.settled ?? GroupEntry(group)))
      if !group.offsets.isEmpty {
        entries.append(.offsets(OffsetsEntry(id, producerId: -1, group.offsets)))
      }
      for producer in group.pendingOffsets.keys.sorted() {
        let pending = group.pendingOffsets[producer]!
        entries.append(.offsets(OffsetsEntry(id, producerId: producer, pending)))
      }
    }
    return entries
  }
}

extension TransactionEntry {
  fileprivate var transaction: Transaction {
    let transaction = Transaction(id: id, producerId: producerId, timeoutMs: timeoutMs)
    transaction.lastProducerId = lastProducerId
    transaction.epoch = epoch
    transaction.lastEpoch = lastEpoch
    transaction.state = Transaction.State(rawValue: state) ?? .empty
    transaction.startMs = startMs
    transaction.partitions = Set(partitions.map(\.value))
    transaction.groups = Set(groups)
    return transaction
  }
}

extension GroupEntry {
  fileprivate func restore(_ group: Group) {
    group.generation = generation
    group.protocolType = protocolType
    group.protocolName = protocolName
    group.leader = leader
    group.state = members.isEmpty ? .empty : .stable
    group.members = members.map { entry in
      let member = Member(
        id: entry.id, instanceId: entry.instanceId, clientId: entry.clientId,
        clientHost: entry.clientHost, sessionTimeoutMs: entry.sessionTimeoutMs,
        rebalanceTimeoutMs: entry.rebalanceTimeoutMs, protocols: entry.protocols)
      member.assignment = entry.assignment
      return member
    }
    group.settled = self
  }
}
