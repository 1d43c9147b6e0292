/// A fetch that waits until there is enough to read, or its time is over.
struct ParkedFetch {
  var request: FetchRequest
  var partitions: [Partition]
}

extension BrokerCore {
  func fetch(_ request: FetchRequest, _ id: RequestId) {
    if request.sessionId != 0, request.sessionEpoch > 0 {
      // No session is ever given out, so none can be known.
      var response = FetchResponse()
      response.error = .fetchSessionIdNotFound
      return answer(id, .fetch(response))
    }
    if request.maxWaitMs <= 0 || request.topics.isEmpty || isReady(request) {
      return answer(id, .fetch(read(request)))
    }
    var partitions: [Partition] = []
    for topic in request.topics {
      for wanted in topic.partitions {
        guard let partition = partition(topic.name, wanted.index) else { continue }
        partition.waiters.insert(id)
        partitions.append(partition)
      }
    }
    parkedFetches[id] = ParkedFetch(request: request, partitions: partitions)
    timers.add(.fetch(id), at: nowMs + Int64(request.maxWaitMs))
  }

  /// Looks again at the fetches that wait on partitions which changed.
  func wakeFetches() {
    while let partition = changed.popLast() {
      // In the order they came: the order of answers must be the same in every run.
      for id in partition.waiters.sorted() {
        if let parked = parkedFetches[id], isReady(parked.request) { completeFetch(id) }
      }
    }
  }

  func completeFetch(_ id: RequestId) {
    guard let parked = parkedFetches[id] else { return }
    dropFetch(id)
    answer(id, .fetch(read(parked.request)))
  }

  func dropFetch(_ id: RequestId) {
    guard let parked = parkedFetches.removeValue(forKey: id) else { return }
    for partition in parked.partitions { partition.waiters.remove(id) }
  }

  /// Whether a fetch is to be answered now: there is enough, or something to be told.
  private func isReady(_ request: FetchRequest) -> Bool {
    let enough = Int(min(request.minBytes, request.maxBytes))
    var size = 0
    for topic in request.topics {
      for wanted in topic.partitions {
        guard let partition = partition(topic.name, wanted.index) else { return true }
        if fault(wanted, partition) != .none { return true }
        if partition.stalledUntilMs > nowMs { continue }
        let limit = readLimit(partition, request)
        size += min(
          partition.log.available(
            from: wanted.fetchOffset, below: limit, enough: max(enough - size, 1)),
          Int(max(wanted.maxBytes, 0)))
        if size >= enough { return true }
      }
    }
    return size >= enough
  }

  private func fault(_ wanted: FetchPartition, _ partition: Partition) -> ErrorCode {
    if wanted.currentLeaderEpoch > 0 { return .unknownLeaderEpoch }
    let log = partition.log
    if wanted.fetchOffset < log.startOffset || wanted.fetchOffset > log.endOffset {
      return .offsetOutOfRange
    }
    return .none
  }

  private func readLimit(_ partition: Partition, _ request: FetchRequest) -> Int64 {
    request.isolationLevel == 1 ? partition.log.lastStableOffset : partition.log.endOffset
  }

  /// Reads what is there. The first partition with data gives its first batch even if that is
  /// larger than every limit, so that a reader always gets on (KIP-74).
  private func read(_ request: FetchRequest) -> FetchResponse {
    var response = FetchResponse()
    var room = Int(max(request.maxBytes, 0))
    var empty = true
    for topic in request.topics {
      var fetched = FetchedTopic()
      fetched.name = topic.name
      for wanted in topic.partitions {
        var result = FetchedPartition()
        result.index = wanted.index
        result.records = []
        defer { fetched.partitions.append(result) }
        guard let partition = partition(topic.name, wanted.index) else {
          result.error = .unknownTopicOrPartition
          continue
        }
        let log = partition.log
        result.error = fault(wanted, partition)
        guard result.error == .none else { continue }
        result.highWatermark = log.endOffset
        result.lastStableOffset = log.lastStableOffset
        result.logStartOffset = log.startOffset
        if partition.stalledUntilMs > nowMs { continue }
        let found = log.read(
          from: wanted.fetchOffset, below: readLimit(partition, request),
          maxBytes: min(room, Int(max(wanted.maxBytes, 0))), oversized: empty)
        result.records = found.slices
        room = max(0, room - found.size)
        if found.size > 0 { empty = false }
        if request.isolationLevel == 1 {
          result.abortedTransactions =
            log.abortedTransactions(from: wanted.fetchOffset, upper: found.upper).map {
              var range = AbortedRange()
              range.producerId = $0.producerId
              range.firstOffset = $0.firstOffset
              return range
            }
        }
      }
      response.topics.append(fetched)
    }
    return response
  }
}
