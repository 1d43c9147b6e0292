extension BrokerCore {
  func produce(_ request: ProduceRequest, _ id: RequestId, _ client: Client) {
    var response = ProduceResponse()
    for topic in request.topics {
      var answered = ProducedTopic()
      answered.name = topic.name
      for data in topic.partitions {
        answered.partitions.append(
          append(data, to: topic.name, request: request, version: client.version))
      }
      response.topics.append(answered)
    }
    if request.acks == 0 {
      finish(id, .nothing)
    } else {
      answer(id, .produce(response))
    }
  }

  private func append(
    _ data: ProducePartition, to name: String, request: ProduceRequest, version: Int16
  ) -> ProducedPartition {
    var result = ProducedPartition()
    result.index = data.index
    func fail(_ code: ErrorCode, _ message: String? = nil) -> ProducedPartition {
      result.error = code
      result.errorMessage = message
      return result
    }
    guard [-1, 0, 1].contains(request.acks) else { return fail(.invalidRequiredAcks) }
    guard let topic = topics[name], let partition = partition(name, data.index) else {
      return fail(.unknownTopicOrPartition)
    }
    let log = partition.log
    guard let slice = data.records?.first else { return fail(.invalidRecord) }
    let bytes = slice.bytes
    let (size, unsound) = BatchView.check(bytes)
    guard unsound == .none else { return fail(unsound) }
    let batch = BatchView(bytes.baseAddress!)
    if let wrong = fault(in: batch, size: size, of: bytes.count, topic: topic) {
      result.recordErrors = wrong.records
      return fail(wrong.code, wrong.message)
    }
    if size > topic.limits.maxMessageBytes { return fail(.messageTooLarge) }
    if size > topic.limits.segmentBytes { return fail(.recordListTooLarge) }
    if batch.compression == .zstd, version < 7 { return fail(.unsupportedCompressionType) }

    if batch.producerId >= 0 {
      let producer = log.producer(batch.producerId)
      if batch.isTransactional,
        let code = verify(batch, in: partition.name, id: request.transactionalId, producer)
      {
        return fail(code)
      }
      switch producer.judge(batch) {
      case .append: break
      case .refuse(let code): return fail(code)
      case .duplicate(let offset, let timestampMs):
        result.baseOffset = offset
        result.logStartOffset = log.startOffset
        if topic.limits.logAppendTime { result.logAppendTimeMs = timestampMs }
        return result
      }
    }
    let stamp = topic.limits.logAppendTime ? nowMs : nil
    result.baseOffset = log.append(
      UnsafeRawBufferPointer(rebasing: bytes[..<size]), nowMs: nowMs, stampWith: stamp,
      limits: topic.limits)
    result.logStartOffset = log.startOffset
    if let stamp { result.logAppendTimeMs = stamp }
    changed.append(partition)
    return result
  }

  /// What Kafka's validator finds wrong with a batch whose checksum is right.
  private func fault(in batch: BatchView, size: Int, of total: Int, topic: Topic)
    -> (code: ErrorCode, message: String, records: [RecordError])?
  {
    if size != total {
      return (.invalidRecord, "A produce request must hold one batch per partition", [])
    }
    if batch.recordCount <= 0 || batch.lastOffsetDelta != batch.recordCount - 1 {
      return (.invalidRecord, "Record count and last offset delta do not agree", [])
    }
    if batch.isControl {
      return (.invalidRecord, "Clients may not write control records", [])
    }
    if batch.producerId >= 0, batch.baseSequence < 0 || batch.producerEpoch < 0 {
      return (.invalidRecord, "A batch with a producer id needs a sequence and an epoch", [])
    }
    guard batch.compression != nil else {
      return (.unsupportedCompressionType, "Unknown compression", [])
    }
    guard topic.limits.compacts else { return nil }
    return keyless(batch)
  }

  /// A compacted topic takes no record without a key.
  private func keyless(_ batch: BatchView)
    -> (code: ErrorCode, message: String, records: [RecordError])?
  {
    let message = "Compacted topic cannot accept message without key"
    let errors = batch.withPlainRecords { bytes in
      var cursor = RecordCursor(bytes)
      var errors: [RecordError] = []
      var index: Int32 = 0
      while cursor.next() == true {
        if cursor.key == nil {
          var error = RecordError()
          error.batchIndex = index
          error.message = message
          errors.append(error)
        }
        index += 1
      }
      return errors
    }
    guard let errors, !errors.isEmpty else { return nil }
    return (.invalidRecord, message, errors)
  }

  /// KIP-890, first part: a transactional batch that would open a transaction in a partition must
  /// have been announced to the coordinator, or it would hang there with nobody to end it.
  private func verify(
    _ batch: BatchView, in name: TopicPartition, id: String?, _ producer: ProducerState
  ) -> ErrorCode? {
    guard let id else { return .transactionalIdAuthorizationFailed }
    if producer.openSince != nil, producer.epoch == batch.producerEpoch { return nil }
    if case .duplicate = producer.judge(batch) { return nil }
    switch announced(
      .partition(name), transactionalId: id, producerId: batch.producerId,
      epoch: batch.producerEpoch)
    {
    case .none: return nil
    // A retriable code that producers of that age know.
    case .concurrentTransactions: return .notEnoughReplicas
    case let code: return code
    }
  }
}
