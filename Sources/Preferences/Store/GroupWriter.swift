import Pipeline

/// The one thread that writes. What waits is written in one transaction, many requests to a commit:
/// a disk makes so many commits durable a second and no more, and while it is at one the next group
/// gathers. Nobody is answered before the commit that holds their request is durable.
package final class GroupWriter: @unchecked Sendable {
  // Unchecked because of the connection, which the writer's thread alone uses, and the thread, which
  // the owner joins once.

  /// A request.
  struct Job: Sendable {
    /// Writes; what it returns is called when that is durable. May be called again where the group
    /// it was in failed, so it has no effect but in the transaction.
    var run: @Sendable (any SQLConnection) throws(SQLError) -> @Sendable () -> Void
    /// Called where nothing of it was kept.
    var fail: @Sendable (StoreError) -> Void
    /// Shares no commit and has no transaction: upkeep that cannot run in one.
    var isAlone = false
  }

  private struct Queue: Sendable {
    var jobs: [Job] = []
    var isClosed = false
  }

  private let queue = Monitor(Queue())
  private let jobsMax: Int
  private let groupJobsMax: Int
  private let connection: any SQLConnection
  private let onGroup: @Sendable (_ jobs: Int) -> Void
  private var thread: NamedThread!

  /// - Parameters:
  ///   - connection: the writer's from now on; closed with it.
  ///   - jobsMax: how many may wait; one more is refused as overloaded.
  ///   - groupJobsMax: how many share a commit, so that the first of them need not wait for long.
  ///   - onGroup: called on the writer's thread behind each commit.
  package init(
    connection: any SQLConnection, jobsMax: Int, groupJobsMax: Int,
    threadName: String = "prefs-writer",
    onGroup: @escaping @Sendable (_ jobs: Int) -> Void
  ) {
    self.connection = connection
    self.jobsMax = jobsMax
    self.groupJobsMax = groupJobsMax
    self.onGroup = onGroup
    thread = NamedThread(name: threadName) { [unowned self] in loop() }
  }

  /// Hands over a request; its answer comes on the writer's thread, which it must not hold up.
  func submit(_ job: Job) {
    let refusal: StoreError? = queue.change { queue in
      if queue.isClosed { return .closed }
      if queue.jobs.count >= jobsMax { return .overloaded(waiting: jobsMax) }
      queue.jobs.append(job)
      return nil
    }
    if let refusal { job.fail(refusal) }
  }

  /// Hands over a request and waits for its answer.
  ///
  /// - Parameter isAlone: outside any transaction.
  @discardableResult
  package func perform<R: Sendable>(
    isAlone: Bool = false,
    _ body: @escaping @Sendable (any SQLConnection) throws(SQLError) -> R
  ) throws(StoreError) -> R {
    let reply = Monitor<Result<R, StoreError>?>(nil)
    submit(
      Job(
        run: { connection throws(SQLError) in
          let result = try body(connection)
          return { reply.change { $0 = .success(result) } }
        },
        fail: { error in reply.change { $0 = .failure(error) } }, isAlone: isAlone))
    return try reply.wait { $0 }.get()
  }

  package var isClosed: Bool { queue.wait { $0.isClosed } }

  /// Writes what waits, then ends. What comes later is refused.
  package func close() {
    queue.change { $0.isClosed = true }
    thread.join()
    connection.close()
  }

  private func loop() {
    while let jobs = nextGroup() { write(jobs) }
  }

  /// Nil: closed, and nothing is left.
  private func nextGroup() -> [Job]? {
    queue.wait { queue -> [Job]?? in
      if queue.jobs.isEmpty { return queue.isClosed ? .some(nil) : nil }
      let count = queue.jobs.prefix(groupJobsMax).prefix { !$0.isAlone }.count
      let group = Array(queue.jobs.prefix(max(1, count)))
      queue.jobs.removeFirst(group.count)
      return group
    }
  }

  private func write(_ jobs: [Job]) {
    do throws(SQLError) {
      if jobs[0].isAlone {
        let answer = try jobs[0].run(connection)
        answer()
        return
      }
      let answers = try connection.transaction(.write) {
        () throws(SQLError) -> [@Sendable () -> Void] in
        var answers: [@Sendable () -> Void] = []
        answers.reserveCapacity(jobs.count)
        for job in jobs { answers.append(try job.run(connection)) }
        return answers
      }
      onGroup(jobs.count)
      for answer in answers { answer() }
    } catch {
      if jobs.count > 1 && !error.concernsEverything {
        // One of them is at fault, and the others must not suffer for it: each by itself.
        for job in jobs { write([job]) }
      } else {
        for job in jobs { job.fail(.sql(error)) }
      }
    }
  }
}
