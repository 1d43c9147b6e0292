import Gate
import Preferences
import Web

/// `sendgate explain`: the support console's answer on a terminal.
enum ExplainCommand {
  private static let limitDefault = 20

  static let command = Command(
    name: "explain",
    summary: "tell what happened to a user's notifications and why, and what would happen now",
    details: """
      What would happen to each category on each device at this moment, by the gate's own rules; then
      what happened, newest first, with every reason in words, what the provider answered, whether the
      user saw it, and the user's changes of preferences in between. With --notification that one alone.
      Reads the store and, where evidence.database is set, the index of evidence, beside a running
      sendgate serve. Exit code 66 where nothing is on record.
      """,
    flags: RunFlags.configuration + [
      .text("user", "ID", "whose", isRequired: true),
      .text("notification", "ID", "this notification of the user's"),
      .integer("limit", "NUMBER", 1...500, "at most so many decisions (\(limitDefault))"),
      .choice("lang", ["en", "zh"], "in English or in Chinese (en)"),
    ],
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let user = try StoreCommands.id(arguments.requiredText("user"), "user")
    let notification = try arguments.text("notification").map { (text) throws(CommandFailure) in
      try StoreCommands.id(text, "notification")
    }
    let limit = arguments.integer("limit") ?? limitDefault
    return try StoreCommands.explain(arguments) { (desk) throws(StoreError) in
      let text = ExplainText(desk: desk, language: arguments.text("lang") ?? "en")
      if let notification { return try text.notification(notification, user: user) }
      return try text.user(user, limit: limit)
    }
  }
}
