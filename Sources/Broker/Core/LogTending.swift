extension BrokerCore {
  /// Retention and compaction, from time to time.
  func tendLogs() {
    for name in topics.keys.sorted() {
      let topic = topics[name]!
      for partition in topic.partitions {
        partition.log.rollIfOld(nowMs: nowMs, limits: topic.limits)
        if topic.limits.deletes { retain(partition, topic.limits) }
        if topic.limits.compacts { partition.log.compact(nowMs: nowMs, limits: topic.limits) }
      }
    }
    // What the journal says more than once it says anew, shorter, from time to time.
    if let journal, journal.isLong { journal.rewrite(snapshot()) }
    timers.add(.logs, at: nowMs + config.logCheckIntervalMs)
  }

  /// Deletes whole closed segments, oldest first, that are too old or too much. The last segment
  /// is closed for it, as Kafka does, when all its records are too old.
  private func retain(_ partition: Partition, _ limits: TopicLimits) {
    let log = partition.log
    var start = log.startOffset
    var excess = limits.retentionBytes >= 0 ? log.size - Int(limits.retentionBytes) : 0
    for (index, segment) in log.segments.enumerated() {
      if segment.isEmpty { break }
      let isLast = index == log.segments.count - 1
      let tooOld = limits.retentionMs >= 0 && nowMs - segment.maxTimestampMs > limits.retentionMs
      let tooMuch = !isLast && limits.retentionBytes >= 0 && excess >= segment.size
      guard tooOld || tooMuch else { break }
      // Open transactions hold the log: their end must find their beginning.
      let next = isLast ? log.endOffset : log.segments[index + 1].baseOffset
      guard next <= log.lastStableOffset else { break }
      if isLast { log.roll(nowMs: nowMs) }
      excess -= segment.size
      start = next
    }
    moveStart(partition, to: start)
  }
}
