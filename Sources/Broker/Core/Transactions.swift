/// What can be part of a transaction: a partition, or a group's offsets.
enum TransactionPart {
  case partition(TopicPartition)
  case group(String)
}

extension BrokerCore {
  // MARK: InitProducerId

  func initProducerId(_ request: InitProducerIdRequest, _ client: Client) -> InitProducerIdResponse
  {
    var response = InitProducerIdResponse()
    guard let id = request.transactionalId else {
      response.producerId = allocateProducerId()
      response.producerEpoch = 0
      return response
    }
    let code = initTransaction(id, request)
    if code == .none {
      response.producerId = transactions[id]!.producerId
      response.producerEpoch = transactions[id]!.epoch
    }
    // Clients before version 4 know the older of the two codes for the same thing.
    response.error = code == .producerFenced && client.version < 4 ? .invalidProducerEpoch : code
    return response
  }

  private func allocateProducerId() -> Int64 {
    defer {
      nextProducerId += 1
      journal?.write(.producerIds(nextProducerId))
    }
    return nextProducerId
  }

  private func initTransaction(_ id: String, _ request: InitProducerIdRequest) -> ErrorCode {
    guard !id.isEmpty else { return .invalidRequest }
    guard (1...config.transactionMaxTimeoutMs).contains(request.transactionTimeoutMs) else {
      return .invalidTransactionTimeout
    }
    let expectsEpoch = request.producerId != -1 || request.producerEpoch != -1
    if expectsEpoch, request.producerId < 0 || request.producerEpoch < 0 { return .invalidRequest }
    let known = transactions[id]
    let transaction =
      known
      ?? Transaction(
        id: id, producerId: allocateProducerId(), timeoutMs: request.transactionTimeoutMs)
    transactions[id] = transaction

    if expectsEpoch, transaction.epoch != -1, request.producerId != transaction.producerId,
      !(request.producerId == transaction.lastProducerId
        && request.producerEpoch >= Transaction.lastEpoch)
    {
      return .producerFenced
    }
    switch transaction.state {
    case .prepareCommit, .prepareAbort: return .concurrentTransactions
    case .ongoing:
      // The transaction of the producer before is aborted under a new epoch, which fences it; the
      // client asks again and gets yet another one.
      fenceAndAbort(transaction)
      return .concurrentTransactions
    case .empty, .completeCommit, .completeAbort: break
    }
    let expected = expectsEpoch ? request.producerEpoch : nil
    if transaction.isEpochExhausted, expected == nil || expected == transaction.epoch {
      transaction.lastProducerId = transaction.producerId
      transaction.lastEpoch = expected == nil ? -1 : transaction.epoch
      transaction.producerId = allocateProducerId()
      transaction.epoch = 0
    } else if let expected, transaction.epoch != -1, expected != transaction.epoch {
      // The same request once more, whose answer was lost, gets the same epoch; another is fenced.
      guard expected == transaction.lastEpoch else { return .producerFenced }
    } else {
      transaction.lastProducerId = transaction.producerId
      transaction.lastEpoch = expected == nil ? -1 : transaction.epoch
      transaction.epoch += 1
    }
    transaction.timeoutMs = request.transactionTimeoutMs
    transaction.state = .empty
    transaction.startMs = -1
    record(transaction)
    return .none
  }

  func record(_ transaction: Transaction) {
    journal?.write(.transaction(TransactionEntry(transaction)))
  }

  // MARK: Adding to a transaction

  func addPartitionsToTxn(_ request: AddPartitionsToTxnRequest, _ client: Client)
    -> AddPartitionsToTxnResponse
  {
    let names = request.topics.flatMap { topic in
      topic.partitions.map { TopicPartition(topic.name, $0) }
    }
    let unknown = Set(names.filter { partition($0.topic, $0.index) == nil })
    var code = ErrorCode.operationNotAttempted
    if unknown.isEmpty {
      code = add(
        names.map { .partition($0) }, to: request.transactionalId, request.producerId,
        request.producerEpoch)
      if code == .producerFenced, client.version < 2 { code = .invalidProducerEpoch }
    }
    var response = AddPartitionsToTxnResponse()
    response.topics = request.topics.map { topic in
      var errors = PartitionErrors()
      errors.name = topic.name
      errors.partitions = topic.partitions.map { index in
        var item = PartitionError()
        item.index = index
        let isUnknown = unknown.contains(TopicPartition(topic.name, index))
        item.error = isUnknown ? .unknownTopicOrPartition : code
        return item
      }
      return errors
    }
    return response
  }

  func addOffsetsToTxn(_ request: AddOffsetsToTxnRequest, _ client: Client)
    -> AddOffsetsToTxnResponse
  {
    var response = AddOffsetsToTxnResponse()
    if request.groupId.isEmpty {
      response.error = .invalidGroupId
      return response
    }
    response.error = add(
      [.group(request.groupId)], to: request.transactionalId, request.producerId,
      request.producerEpoch)
    if response.error == .producerFenced, client.version < 2 {
      response.error = .invalidProducerEpoch
    }
    return response
  }

  private func add(
    _ parts: [TransactionPart], to id: String, _ producerId: Int64, _ epoch: Int16
  ) -> ErrorCode {
    guard !id.isEmpty else { return .invalidRequest }
    guard let transaction = transactions[id], transaction.producerId == producerId else {
      return .invalidProducerIdMapping
    }
    guard transaction.epoch == epoch else { return .producerFenced }
    guard !transaction.isEnding else { return .concurrentTransactions }
    let before = (transaction.partitions.count, transaction.groups.count)
    for part in parts {
      switch part {
      case .partition(let name): transaction.partitions.insert(name)
      case .group(let group): transaction.groups.insert(group)
      }
    }
    if transaction.state == .ongoing,
      before == (transaction.partitions.count, transaction.groups.count)
    {
      return .none
    }
    if transaction.state != .ongoing {
      transaction.state = .ongoing
      transaction.startMs = nowMs
      watch(transaction)
    }
    record(transaction)
    return .none
  }

  /// Whether a producer's current transaction was told of a part, as a partition asks before it
  /// takes the first batch of one (KIP-890, first part).
  func announced(
    _ part: TransactionPart, transactionalId id: String, producerId: Int64, epoch: Int16
  ) -> ErrorCode {
    guard let transaction = transactions[id], transaction.producerId == producerId else {
      return .invalidProducerIdMapping
    }
    guard transaction.epoch == epoch else { return .invalidProducerEpoch }
    guard !transaction.isEnding else { return .concurrentTransactions }
    let isIn =
      switch part {
      case .partition(let name): transaction.partitions.contains(name)
      case .group(let group): transaction.groups.contains(group)
      }
    return isIn ? .none : .invalidTxnState
  }

  func txnOffsetCommit(_ request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse {
    var refusal = ErrorCode.none
    if request.groupId.isEmpty {
      refusal = .invalidGroupId
    } else {
      refusal = announced(
        .group(request.groupId), transactionalId: request.transactionalId,
        producerId: request.producerId, epoch: request.producerEpoch)
    }
    let group = groups[request.groupId] ?? Group(id: request.groupId)
    if refusal == .none {
      groups[request.groupId] = group
      refusal = checkCommit(
        group, generation: request.generationId, member: request.memberId,
        instanceId: request.groupInstanceId, transactional: true)
    }
    var accepted: [TopicPartition: CommittedOffset] = [:]
    var response = TxnOffsetCommitResponse()
    for topic in request.topics {
      var errors = PartitionErrors()
      errors.name = topic.name
      for item in topic.partitions {
        var error = PartitionError()
        error.index = item.index
        error.error =
          refusal == .none ? checkOffset(topic.name, item.index, item.metadata) : refusal
        if error.error == .none {
          accepted[TopicPartition(topic.name, item.index)] = committed(
            item.offset, item.leaderEpoch, item.metadata)
        }
        errors.partitions.append(error)
      }
      response.topics.append(errors)
    }
    if !accepted.isEmpty {
      journal?.write(.offsets(OffsetsEntry(group.id, producerId: request.producerId, accepted)))
      group.pendingOffsets[request.producerId, default: [:]].merge(accepted) { $1 }
    }
    return response
  }
}
