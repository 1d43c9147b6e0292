/// What is to go wrong, and when: rules, of which the first that applies to a request is carried
/// out. See docs/broker.md for the text form.
public struct InjectionPlan: Sendable {
  public var rules: [InjectionRule] = []

  public init() {}
}

public struct InjectionRule: Sendable {
  public enum Action: Equatable, Sendable {
    /// Work on the request later.
    case delay(ms: Int64)
    /// Work on it now and answer later.
    case delayAnswer(ms: Int64)
    /// Neither work on it nor answer.
    case drop
    /// Work on it and do not answer.
    case lose
    /// Answer with an error instead.
    case error(ErrorCode)
    /// End the connection instead.
    case close
    /// Work on it, then end the connection without an answer.
    case closeAfter
    /// Work on it twice and answer once.
    case `repeat`
    /// Before it, give up the member that sends it, as if its session had timed out.
    case expire
    /// For a time, let nothing be read from or written to the partitions it names.
    case stall(ms: Int64)
  }

  /// Nil: any kind.
  public var key: ApiKey?
  public var topic: String?
  public var partition: Int32?
  public var group: String?
  public var transactionalId: String?
  /// A client id; with a star at its end, how it begins.
  public var client: String?
  /// Counted among the requests that fit: the first that is taken, from 1.
  public var from = 1
  /// And how many are, from there on.
  public var times = Int.max
  /// Every how many of them.
  public var every = 1
  public var probability = 1.0
  public var action: Action

  public init(_ key: ApiKey?, _ action: Action) {
    self.key = key
    self.action = action
  }
}

/// Which line of a plan cannot be understood, and why.
public struct PlanError: Error, Equatable, CustomStringConvertible {
  public var line: Int
  public var reason: String

  public var description: String { "injection plan, line \(line): \(reason)" }
}

extension InjectionPlan {
  /// Reads a plan: a rule a line, `KIND [condition=value …] ACTION [argument]`; `#` starts a comment.
  public init(parsing text: String) throws(PlanError) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
      if words.isEmpty { continue }
      do { rules.append(try Self.rule(words)) } catch {
        throw PlanError(line: index + 1, reason: error.text)
      }
    }
  }

  private struct Reason: Error { var text: String }

  private static func rule(_ words: [String]) throws(Reason) -> InjectionRule {
    let key = ApiKey.allCases.first { $0.name.lowercased() == words[0].lowercased() }
    if key == nil, words[0] != "*" {
      throw Reason(text: "\(words[0]) is no request kind; use Kafka's name for it, or *")
    }
    let conditions = words.dropFirst().prefix { $0.contains("=") }
    let rest = words.dropFirst(1 + conditions.count)
    var rule = InjectionRule(key, try action(Array(rest)))
    for condition in conditions { try add(condition, to: &rule) }
    return rule
  }

  private static func action(_ words: [String]) throws(Reason) -> InjectionRule.Action {
    guard let name = words.first else { throw Reason(text: "no action") }
    let plain: [String: InjectionRule.Action] = [
      "drop": .drop, "lose": .lose, "close": .close, "close-after": .closeAfter,
      "repeat": .repeat, "expire": .expire,
    ]
    if let action = plain[name] {
      if words.count > 1 { throw Reason(text: "\(name) takes no argument") }
      return action
    }
    guard words.count == 2 else { throw Reason(text: "\(name) needs one argument, or is unknown") }
    if name == "error" {
      if let code = ErrorCode.names[words[1]] { return .error(code) }
      if let number = Int16(words[1]) { return .error(ErrorCode(rawValue: number)) }
      throw Reason(text: "\(words[1]) is no error name; a number will do")
    }
    guard let ms = Int64(words[1]), ms >= 0 else {
      throw Reason(text: "\(words[1]) is no number of milliseconds")
    }
    switch name {
    case "delay": return .delay(ms: ms)
    case "delay-answer": return .delayAnswer(ms: ms)
    case "stall": return .stall(ms: ms)
    default: throw Reason(text: "\(name) is no action")
    }
  }

  private static func add(_ condition: String, to rule: inout InjectionRule) throws(Reason) {
    let equals = condition.firstIndex(of: "=")!
    let name = condition[..<equals]
    let value = String(condition[condition.index(after: equals)...])
    func number() throws(Reason) -> Int {
      guard let number = Int(value), number >= 0, number <= Int(Int32.max) else {
        throw Reason(text: "\(name) must be a whole number")
      }
      return number
    }
    switch name {
    case "topic": rule.topic = value
    case "partition": rule.partition = Int32(try number())
    case "group": rule.group = value
    case "txn": rule.transactionalId = value
    case "client": rule.client = value
    case "nth": (rule.from, rule.times) = (max(1, try number()), 1)
    case "from": rule.from = max(1, try number())
    case "times": rule.times = try number()
    case "every": rule.every = max(1, try number())
    case "p":
      guard let p = Double(value), (0...1).contains(p) else {
        throw Reason(text: "p must be between 0 and 1")
      }
      rule.probability = p
    default: throw Reason(text: "\(name) is no condition")
    }
  }
}
