extension BrokerCore {
  func endTxn(_ request: EndTxnRequest, _ client: Client) -> EndTxnResponse {
    var response = EndTxnResponse()
    response.error = end(request)
    if response.error == .producerFenced, client.version < 2 {
      response.error = .invalidProducerEpoch
    }
    return response
  }

  private func end(_ request: EndTxnRequest) -> ErrorCode {
    guard !request.transactionalId.isEmpty else { return .invalidRequest }
    guard let transaction = transactions[request.transactionalId],
      transaction.producerId == request.producerId
    else { return .invalidProducerIdMapping }
    guard transaction.epoch == request.producerEpoch else { return .producerFenced }
    switch (transaction.state, request.committed) {
    case (.ongoing, let commit):
      prepare(transaction, commit: commit)
      return .none
    case (.completeCommit, true), (.completeAbort, false): return .none
    case (.prepareCommit, true), (.prepareAbort, false): return .concurrentTransactions
    default: return .invalidTxnState
    }
  }

  /// The decision is taken: from here on the transaction ends so, whatever happens, because the
  /// journal says so and recovery goes on from there.
  private func prepare(_ transaction: Transaction, commit: Bool) {
    transaction.state = commit ? .prepareCommit : .prepareAbort
    record(transaction)
    if config.transactionMarkerDelayMs > 0 {
      timers.add(.markers(id: transaction.id), at: nowMs + config.transactionMarkerDelayMs)
    } else {
      writeMarkers(transaction.id)
    }
  }

  func writeMarkers(_ id: String, isRecovery: Bool = false) {
    guard let transaction = transactions[id], transaction.isEnding else { return }
    let commit = transaction.state == .prepareCommit
    if config.transactionMarkerSpreadMs > 0, !transaction.groups.isEmpty, !isRecovery {
      for name in transaction.groups.sorted() {
        endOffsets(of: name, producerId: transaction.producerId, commit: commit)
      }
      transaction.groups.removeAll()
      timers.add(.markers(id: id), at: nowMs + config.transactionMarkerSpreadMs)
      return
    }
    for name in transaction.partitions.sorted() {
      // A topic deleted meanwhile needs none.
      guard let topic = topics[name.topic], let partition = partition(name.topic, name.index) else {
        continue
      }
      let marker = BatchBuilder.marker(
        commit: commit, producerId: transaction.producerId, producerEpoch: transaction.epoch,
        timestampMs: nowMs)
      marker.withUnsafeBytes {
        _ = partition.log.append($0, nowMs: nowMs, limits: topic.limits)
      }
      changed.append(partition)
    }
    for name in transaction.groups.sorted() {
      endOffsets(of: name, producerId: transaction.producerId, commit: commit)
    }
    transaction.partitions.removeAll()
    transaction.groups.removeAll()
    transaction.state = commit ? .completeCommit : .completeAbort
    record(transaction)
  }

  private func endOffsets(of name: String, producerId: Int64, commit: Bool) {
    guard let group = groups[name] else { return }
    journal?.write(.transactionalOffsetsEnd(OffsetsEndEntry(name, producerId, commit)))
    settleOffsets(of: group, producerId: producerId, commit: commit)
  }

  /// Makes a transaction's offsets the group's, or drops them. Of two commits for a partition the
  /// one that was made later stays, even if it became visible first.
  func settleOffsets(of group: Group, producerId: Int64, commit: Bool) {
    guard let pending = group.pendingOffsets.removeValue(forKey: producerId), commit else { return }
    group.offsets.merge(pending) { $0.order > $1.order ? $0 : $1 }
  }

  // MARK: Fencing

  /// Aborts an open transaction under a new epoch that nobody is given: the markers carry it, and
  /// with it every partition refuses what the old producer still sends.
  func fenceAndAbort(_ transaction: Transaction) {
    transaction.epoch += 1
    transaction.lastEpoch = -1
    prepare(transaction, commit: false)
  }

  func watch(_ transaction: Transaction) {
    // Kafka looks for those that are past their time, so one millisecond later.
    timers.add(
      .transaction(
        id: transaction.id, producerId: transaction.producerId, epoch: transaction.epoch,
        startMs: transaction.startMs),
      at: transaction.startMs + Int64(transaction.timeoutMs) + 1)
  }

  func transactionDue(_ id: String, _ producerId: Int64, _ epoch: Int16, _ startMs: Int64) {
    guard let transaction = transactions[id], transaction.state == .ongoing,
      transaction.producerId == producerId, transaction.epoch == epoch,
      transaction.startMs == startMs
    else { return }
    fenceAndAbort(transaction)
  }
}
