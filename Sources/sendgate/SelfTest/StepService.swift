import Gate

/// The preference service as a step asks it: all requests of a step share the step's time.
struct StepService {
  let client: ServiceClient
  let deadline: StepDeadline

  func ask(
    _ method: String, _ path: String, _ body: String? = nil
  ) throws(CommandFailure) -> ServiceClient.Reply {
    do throws(ServiceFailure) {
      return try client.ask(method, path, body: body, withinMs: deadline.leftMs())
    } catch {
      throw deadline.failure(
        "the preference service did not answer \(method) \(path): \(error.words)")
    }
  }

  @discardableResult
  func must(
    _ method: String, _ path: String, _ body: String
  ) throws(CommandFailure) -> ServiceClient.Reply {
    let reply = try ask(method, path, body)
    guard reply.isGood else { throw Self.refused(method, path, reply) }
    return reply
  }

  /// Nil where there is no such thing.
  func get(_ path: String) throws(CommandFailure) -> JSONValue? {
    let reply = try ask("GET", path)
    if reply.status == 404 { return nil }
    guard reply.isGood else { throw Self.refused("GET", path, reply) }
    return reply.json
  }

  private static func refused(
    _ method: String, _ path: String, _ reply: ServiceClient.Reply
  ) -> CommandFailure {
    CommandFailure(
      ExitCode.notRun,
      "the preference service answered \(method) \(path) with \(reply.status): \(reply.excerpt)")
  }
}
