/// What a notification would show. The gate carries it without looking; here it makes up the rest of
/// a candidate's usual 400 bytes, in scripts of one to four bytes a character and with escapes.
struct Payload {
  let out: LineWriter

  typealias Text = (title: StaticString, body: StaticString)

  static let social: [Text] = [
    ("New like", "liked your photo from the weekend \u{2764}\u{FE0F}"),
    ("New comment", "wrote: \\\"Where was this taken? It looks wonderful!\\\""),
    ("You were mentioned", "mentioned you in a conversation with three other people"),
    ("New follower", "started following you. Say hello\\u2026"),
  ]
  static let marketing: [Text] = [
    (
      "Only until Sunday",
      "20\u{00A0}% off everything on your list. Free delivery over 40\u{00A0}€."
    ),
    ("Something new for you", "The autumn collection is here: be among the first to see it."),
    ("We miss you", "Here is a small present for your next visit: it is waiting in your basket."),
  ]
  static let transactional: [Text] = [
    ("On its way", "Your parcel has left our warehouse and should be with you in two days."),
    ("Payment received", "Thank you! We have received your payment and are preparing your order."),
    ("Payment failed", "Your bank did not accept the payment.\\nPlease check your card details."),
  ]
  static let security: [Text] = [
    ("Your code", "Use this code to sign in. Never share it; we will never ask you for it."),
    ("New sign-in", "Somebody signed in to your account from a new device. Was it you?"),
    ("Suspicious sign-in", "We stopped a sign-in from an unusual place. Please have a look."),
    ("Reset your password", "Follow the link to choose a new password. It is good for an hour."),
    ("Your account is safe", "We blocked an attempt to take over your account. Tap for details."),
  ]
  private static let names: [StaticString] = [
    "Zoë", "Mwangi", "李雷", "Олег", "محمد", "प्रिया", "João", "Nguyễn", "さくら", "Siobhán", "김민준",
    "Anna", "Tom\u{00E1}\u{0161}", "🦊 Fox", "O\\u0027Brien", "Lena",
  ]

  func write(_ text: Text, _ link: StaticString, _ random: inout Random) {
    let name = Self.names[random.below(Self.names.count)]
    let target = random.next()
    out.key("payload")
    out.beginObject()
    out.key("title")
    out.string(text.title)
    out.key("body")
    out.pieces {
      out.raw(name)
      out.raw(": ")
      out.raw(text.body)
    }
    out.key("link")
    out.pieces {
      out.raw(link)
      out.hex(target, count: 12)
    }
    if random.chance(4000) {
      out.key("image")
      out.pieces {
        out.raw("https://img.example.com/")
        out.hex(target, count: 16)
        out.raw(".jpg")
      }
    }
    out.key("badge")
    out.integer(1 + random.below(20))
    out.endObject()
  }
}
