import Broker

/// From one client to the broker. Requests on it arrive in the order they were sent, as TCP has it:
/// without that a request that was given up could arrive after the next transaction has begun, and end
/// that one, against which Kafka before KIP-890 has no remedy.
final class Connection {
  let name: String
  unowned let machine: Machine
  var lastDeliveryMs: Int64 = 0
  var inFlight: [Exchange] = []

  init(_ name: String, of machine: Machine) {
    self.name = "\(machine.name).\(name)"
    self.machine = machine
  }
}

/// A request on its way, and its answer on the way back.
final class Exchange {
  let request: Request
  let connection: Connection
  let signal = Signal()
  var fate = Fate()
  var response: Response?
  /// An answer came, or the news that none will.
  var isOver = false
  /// Nobody waits for it any more.
  var isAbandoned = false

  init(_ request: Request, _ connection: Connection) {
    self.request = request
    self.connection = connection
  }
}

/// What becomes of a request.
struct Fate {
  var delayMs: Int64 = 0
  /// It never arrives.
  var isLost = false
  /// It arrives, is worked on, and nobody is told.
  var losesAnswer = false
  /// It arrives so many times; the last answer is the one that is heard.
  var times = 1
  /// The broker does not work on it, and says why.
  var refusal: ErrorCode?
}

/// Where a request is, to its client.
enum Passing: CaseIterable {
  /// Nothing has left yet.
  case before
  /// It is on its way, whatever becomes of the client.
  case sent
  /// It is answered, or given up.
  case after
}
