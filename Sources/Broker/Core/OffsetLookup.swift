extension BrokerCore {
  func listOffsets(_ request: ListOffsetsRequest, _ client: Client) -> ListOffsetsResponse {
    var response = ListOffsetsResponse()
    for topic in request.topics {
      var listed = ListedTopic()
      listed.name = topic.name
      for wanted in topic.partitions {
        var result = ListedPartition()
        result.index = wanted.index
        if let partition = partition(topic.name, wanted.index) {
          if wanted.currentLeaderEpoch > 0 {
            result.error = .unknownLeaderEpoch
          } else {
            find(wanted.timestamp, partition.log, request.isolationLevel, client, &result)
          }
        } else {
          result.error = .unknownTopicOrPartition
        }
        listed.partitions.append(result)
      }
      response.topics.append(listed)
    }
    return response
  }

  private func find(
    _ timestamp: Int64, _ log: PartitionLog, _ isolation: Int8, _ client: Client,
    _ result: inout ListedPartition
  ) {
    // Committed readers are told of nothing past the last stable offset.
    let limit = isolation == 1 ? log.lastStableOffset : log.endOffset
    switch timestamp {
    case -1:
      result.offset = limit
      result.leaderEpoch = 0
    case -2:
      result.offset = log.startOffset
      result.leaderEpoch = 0
    case -3 where client.version >= 7:
      guard let found = log.greatestTimestamp() else { return }
      result.offset = found.offset
      result.timestamp = found.timestampMs
      result.leaderEpoch = 0
    case ..<0:
      result.error = client.version >= 7 ? .unsupportedVersion : .invalidRequest
    default:
      guard let found = log.firstRecord(atOrAfter: timestamp), found.offset < limit else { return }
      result.offset = found.offset
      result.timestamp = found.timestampMs
      result.leaderEpoch = 0
    }
  }

  func offsetForLeaderEpoch(_ request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse
  {
    var response = OffsetForLeaderEpochResponse()
    for topic in request.topics {
      var ends = LeaderEpochEndTopic()
      ends.name = topic.name
      for wanted in topic.partitions {
        var end = LeaderEpochEnd()
        end.index = wanted.index
        if let partition = partition(topic.name, wanted.index) {
          if wanted.currentLeaderEpoch > 0 {
            end.error = .unknownLeaderEpoch
          } else if wanted.leaderEpoch == 0 {
            // One leader, one epoch: it ends where the log ends.
            end.leaderEpoch = 0
            end.endOffset = partition.log.endOffset
          }
        } else {
          end.error = .unknownTopicOrPartition
        }
        ends.partitions.append(end)
      }
      response.topics.append(ends)
    }
    return response
  }
}

extension PartitionLog {
  /// The first record, by offset, whose time is not before `timestampMs`.
  func firstRecord(atOrAfter timestampMs: Int64) -> (offset: Int64, timestampMs: Int64)? {
    for segment in segments where segment.maxTimestampMs >= timestampMs {
      for entry in segment.entries
      where entry.maxTimestampMs >= timestampMs && entry.lastOffset >= startOffset {
        let batch = segment.view(entry)
        if batch.attributes & 0x8 != 0 || batch.recordCount == 0 {
          return (max(batch.baseOffset, startOffset), batch.maxTimestamp)
        }
        guard let found = batch.firstRecord(atOrAfter: timestampMs, from: startOffset) else {
          continue
        }
        return found
      }
    }
    return nil
  }

  func greatestTimestamp() -> (offset: Int64, timestampMs: Int64)? {
    guard let best = segments.map(\.maxTimestampMs).max(), best >= 0 else { return nil }
    return firstRecord(atOrAfter: best)
  }
}

extension BatchView {
  /// Within the batch. Compressed other than by lz4, the batch's start stands for its records.
  fileprivate func firstRecord(atOrAfter timestampMs: Int64, from startOffset: Int64) -> (
    offset: Int64, timestampMs: Int64
  )? {
    let first = withPlainRecords { bytes -> (offset: Int64, timestampMs: Int64)? in
      var cursor = RecordCursor(bytes)
      while cursor.next() == true {
        let time = baseTimestamp + cursor.timestampDelta
        let offset = baseOffset + cursor.offsetDelta
        if time >= timestampMs, offset >= startOffset { return (offset, time) }
      }
      return nil
    }
    return first ?? (max(baseOffset, startOffset), maxTimestamp)
  }
}
