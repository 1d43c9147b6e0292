@testable import Broker

/// A producer as a client library keeps one: its id, epoch, and next sequence.
struct TestProducer {
  var txn: String?
  var id: Int64
  var epoch: Int16
  var sequence: Int32 = 0
}

extension Sim {
  func initProducer(
    _ txn: String?, timeoutMs: Int32 = 60_000, as current: TestProducer? = nil,
    version: Int16 = .max
  ) -> InitProducerIdResponse {
    var request = InitProducerIdRequest()
    request.transactionalId = txn
    request.transactionTimeoutMs = timeoutMs
    if let current {
      request.producerId = current.id
      request.producerEpoch = current.epoch
    }
    guard case .initProducerId(let r) = call(.initProducerId(request), version: version) else {
      fatalError()
    }
    return r
  }

  /// A producer that is ready, having asked again as long as it was told to.
  func producer(_ txn: String?, timeoutMs: Int32 = 60_000) -> TestProducer {
    while true {
      let response = initProducer(txn, timeoutMs: timeoutMs)
      if response.error == .none {
        return TestProducer(txn: txn, id: response.producerId, epoch: response.producerEpoch)
      }
      precondition(response.error == .concurrentTransactions, "\(response.error)")
      pass(1)
    }
  }

  @discardableResult
  func write(
    _ values: String..., by producer: inout TestProducer, to topic: String = "t",
    _ partition: Int32 = 0, key: String? = nil
  ) -> ProducedPartition {
    let me = producer
    let bytes = batch(values, key: key) {
      ($0.producerId, $0.producerEpoch, $0.baseSequence) = (me.id, me.epoch, me.sequence)
      $0.isTransactional = me.txn != nil
    }
    let result = produce(bytes, to: topic, partition, txn: me.txn)
    if result.error == .none { producer.sequence &+= Int32(values.count) }
    return result
  }

  @discardableResult
  func add(
    _ producer: TestProducer, topic: String = "t", _ partitions: [Int32] = [0],
    version: Int16 = .max
  ) -> ErrorCode {
    var request = AddPartitionsToTxnRequest()
    request.transactionalId = producer.txn!
    (request.producerId, request.producerEpoch) = (producer.id, producer.epoch)
    var item = OffsetFetchTopic()
    (item.name, item.partitions) = (topic, partitions)
    request.topics = [item]
    guard case .addPartitionsToTxn(let r) = call(.addPartitionsToTxn(request), version: version)
    else { fatalError() }
    return r.topics[0].partitions[0].error
  }

  @discardableResult
  func end(_ producer: TestProducer, commit: Bool, version: Int16 = .max) -> ErrorCode {
    var request = EndTxnRequest()
    request.transactionalId = producer.txn!
    (request.producerId, request.producerEpoch) = (producer.id, producer.epoch)
    request.committed = commit
    guard case .endTxn(let r) = call(.endTxn(request), version: version) else { fatalError() }
    return r.error
  }

  @discardableResult
  func addOffsets(_ producer: TestProducer, group: String) -> ErrorCode {
    var request = AddOffsetsToTxnRequest()
    request.transactionalId = producer.txn!
    (request.producerId, request.producerEpoch) = (producer.id, producer.epoch)
    request.groupId = group
    guard case .addOffsetsToTxn(let r) = call(.addOffsetsToTxn(request)) else { fatalError() }
    return r.error
  }

  func commitOffset(
    _ offset: Int64, by producer: TestProducer, group: String, generation: Int32 = -1,
    member: String = "", topic: String = "t"
  ) -> ErrorCode {
    var request = TxnOffsetCommitRequest()
    request.transactionalId = producer.txn!
    request.groupId = group
    (request.producerId, request.producerEpoch) = (producer.id, producer.epoch)
    (request.generationId, request.memberId) = (generation, member)
    var item = TxnOffsetCommitTopic()
    item.name = topic
    var place = TxnOffsetCommitPartition()
    place.offset = offset
    item.partitions = [place]
    request.topics = [item]
    guard case .txnOffsetCommit(let r) = call(.txnOffsetCommit(request)) else { fatalError() }
    return r.topics[0].partitions[0].error
  }

  func committed(_ group: String, stable: Bool = true, topic: String = "t") -> FetchedOffset {
    var request = OffsetFetchRequest()
    request.groupId = group
    request.requireStable = stable
    var item = OffsetFetchTopic()
    (item.name, item.partitions) = (topic, [0])
    request.topics = [item]
    guard case .offsetFetch(let r) = call(.offsetFetch(request)) else { fatalError() }
    return r.topics[0].partitions[0]
  }

  func commit(
    _ offset: Int64, group: String, generation: Int32 = -1, member: String = "",
    topic: String = "t"
  ) -> ErrorCode {
    var request = OffsetCommitRequest()
    request.groupId = group
    (request.generationId, request.memberId) = (generation, member)
    var item = OffsetCommitTopic()
    item.name = topic
    var place = OffsetCommitPartition()
    place.offset = offset
    item.partitions = [place]
    request.topics = [item]
    guard case .offsetCommit(let r) = call(.offsetCommit(request)) else { fatalError() }
    return r.topics[0].partitions[0].error
  }
}
