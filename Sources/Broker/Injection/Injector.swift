/// Carries out a plan: counts what fits each rule, and remembers what to do with answers.
struct Injector {
  private var plan: InjectionPlan
  private var seen: [Int]
  private var random: SeededRandom

  enum Fate {
    case delay(ms: Int64)
    case lose
    case closeAfter
    case swallow
  }

  /// What is to become of answers not given yet.
  var fates: [RequestId: Fate] = [:]
  /// Requests that are not worked on yet.
  var held: [RequestId: (Request, Client)] = [:]
  /// Answers given and not let out yet.
  var delayed: [RequestId: Outcome] = [:]
  /// Answers that became due to be delayed; the core sets their timers.
  var newlyDelayed: [(id: RequestId, ms: Int64)] = []

  init(plan: InjectionPlan, seed: UInt64) {
    self.plan = plan
    seen = plan.rules.map { _ in 0 }
    random = SeededRandom(seed: seed ^ 0x1A2B_3C4D)
  }

  mutating func replace(_ plan: InjectionPlan) {
    self.plan = plan
    seen = plan.rules.map { _ in 0 }
  }

  /// The action of the first rule that applies. Every rule that fits counts, applied or not.
  mutating func action(for request: Request, from client: Client) -> InjectionRule.Action? {
    if plan.rules.isEmpty { return nil }
    var chosen: InjectionRule.Action?
    for (index, rule) in plan.rules.enumerated() where rule.fits(request, client) {
      seen[index] += 1
      let place = seen[index] - rule.from
      guard place >= 0, place % rule.every == 0, place / rule.every < rule.times else { continue }
      if rule.probability < 1, random.unit() >= rule.probability { continue }
      chosen = chosen ?? rule.action
    }
    return chosen
  }

  /// The outcome as it is to be let out; nil when not now or not at all.
  mutating func shape(_ id: RequestId, _ outcome: Outcome) -> Outcome? {
    if fates.isEmpty { return outcome }
    switch fates.removeValue(forKey: id) {
    case nil: return outcome
    case .lose: return .nothing
    case .closeAfter: return .close
    case .swallow: return nil
    case .delay(let ms):
      delayed[id] = outcome
      newlyDelayed.append((id, ms))
      return nil
    }
  }
}

extension InjectionRule {
  func fits(_ request: Request, _ client: Client) -> Bool {
    if let key, key != request.key { return false }
    if let name = self.client {
      let fits = name.hasSuffix("*") ? client.id.hasPrefix(name.dropLast()) : client.id == name
      if !fits { return false }
    }
    if let group, request.groupId != group { return false }
    if let transactionalId, request.transactionalId != transactionalId { return false }
    if topic == nil, partition == nil { return true }
    return request.partitions.contains {
      (topic == nil || $0.topic == topic) && (partition == nil || $0.index == partition)
    }
  }
}

extension BrokerCore {
  /// Puts another plan in force; counts start anew.
  public func inject(_ plan: InjectionPlan) { injector.replace(plan) }

  /// Lets a request in, or does to it what the plan says.
  func admit(_ request: Request, _ id: RequestId, _ client: Client) {
    switch injector.action(for: request, from: client) {
    case nil: work(request, id, client)
    case .delay(let ms): hold(request, id, client, untilMs: nowMs + ms)
    case .delayAnswer(let ms): work(request, id, client, fate: .delay(ms: ms))
    case .drop: finish(id, .nothing)
    case .lose: work(request, id, client, fate: .lose)
    case .error(let code): answer(id, request.refused(code))
    case .close: finish(id, .close)
    case .closeAfter: work(request, id, client, fate: .closeAfter)
    case .repeat:
      work(request, makeId(), client, fate: .swallow)
      work(request, id, client)
    case .expire:
      if let group = request.groupId.flatMap({ groups[$0] }),
        let member = request.memberId.flatMap(group.member)
      {
        removeMember(member, from: group)
      }
      work(request, id, client)
    case .stall(let ms):
      for name in request.partitions { stall(name, untilMs: nowMs + ms) }
      work(request, id, client)
    }
  }

  private func work(
    _ request: Request, _ id: RequestId, _ client: Client, fate: Injector.Fate? = nil
  ) {
    if let fate { injector.fates[id] = fate }
    if case .produce(let produce) = request, let untilMs = stallEnd(produce) {
      return hold(request, id, client, untilMs: untilMs)
    }
    handle(request, id, client)
  }

  /// Sets the timers of answers that are to come later.
  func setDelays() {
    for item in injector.newlyDelayed { timers.add(.held(item.id), at: nowMs + item.ms) }
    injector.newlyDelayed.removeAll()
  }

  private func hold(_ request: Request, _ id: RequestId, _ client: Client, untilMs: Int64) {
    injector.held[id] = (request, client)
    timers.add(.held(id), at: untilMs)
  }

  func releaseHeld(_ id: RequestId) {
    if let outcome = injector.delayed.removeValue(forKey: id) { return finish(id, outcome) }
    if let (request, client) = injector.held.removeValue(forKey: id) { work(request, id, client) }
  }

  /// Lets nothing be read from or written to a partition for a time.
  public func stall(_ name: TopicPartition, untilMs: Int64) {
    guard let partition = partition(name.topic, name.index) else { return }
    partition.stalledUntilMs = untilMs
    timers.add(.stallOver(name), at: untilMs)
  }

  private func stallEnd(_ produce: ProduceRequest) -> Int64? {
    var end: Int64?
    for topic in produce.topics {
      for data in topic.partitions {
        if let partition = partition(topic.name, data.index), partition.stalledUntilMs > nowMs {
          end = max(end ?? 0, partition.stalledUntilMs)
        }
      }
    }
    return end
  }
}
