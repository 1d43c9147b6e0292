import CHTTP

/// Requests and answers between C's memory and Swift's values.
enum HTTPExchange {
  static func read(_ request: UnsafePointer<chttp_request>) -> HTTPRequest {
    let raw = request.pointee
    var read = HTTPRequest(
      method: String(cString: raw.method), path: String(cString: raw.path), body: body(raw),
      client: client(request))
    withUnsafeMutablePointer(to: &read) { target in
      chttp_request_each_header(
        request,
        { target, name, nameBytes, value, valueBytes in
          target!.assumingMemoryBound(to: HTTPRequest.self).pointee.headers.append(
            HTTPField(
              HTTPExchange.text(name, nameBytes) ?? "",
              // The blanks around a value are none of it (RFC 9110, section 5.5).
              String(ASCII.trimmed((HTTPExchange.text(value, valueBytes) ?? "")[...]))))
        }, target)
      chttp_request_each_argument(
        request,
        { target, name, nameBytes, value, valueBytes in
          target!.assumingMemoryBound(to: HTTPRequest.self).pointee.arguments.append(
            (HTTPExchange.text(name, nameBytes) ?? "", HTTPExchange.text(value, valueBytes)))
        }, target)
    }
    return read
  }

  static func answer(_ answer: HTTPResponse, to response: OpaquePointer) {
    // Name, NUL, value, NUL, and so on: C's strings in one piece of memory.
    var texts: [CChar] = []
    var starts: [Int] = []
    for field in answer.headers {
      for text in [field.name, field.value] {
        starts.append(texts.count)
        texts.append(contentsOf: text.utf8.lazy.map { CChar(bitPattern: $0) })
        texts.append(0)
      }
    }
    texts.withUnsafeBufferPointer { texts in
      let headers = stride(from: 0, to: starts.count, by: 2).map { i in
        chttp_header(
          name: texts.baseAddress! + starts[i], value: texts.baseAddress! + starts[i + 1])
      }
      answer.body.withUnsafeBytes { body in
        chttp_respond(
          response, UInt32(answer.status), headers, headers.count, body.baseAddress, body.count)
      }
    }
  }

  private static func body(_ raw: chttp_request) -> HTTPRequest.Body {
    switch raw.body_state {
    case CHTTP_BODY_WHOLE:
      .whole(Array(UnsafeBufferPointer(start: raw.body, count: raw.body_bytes)))
    case CHTTP_BODY_TOO_LARGE: .tooLarge
    case CHTTP_BODY_LENGTH_UNKNOWN: .lengthUnknown
    case CHTTP_BODY_AMBIGUOUS: .ambiguous
    default: .none
    }
  }

  private static func client(_ request: UnsafePointer<chttp_request>) -> ClientAddress {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { bytes in
      let count = chttp_request_address(request, bytes.baseAddress!)
      return ClientAddress(bytes.prefix(count))
    }
  }

  private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String? {
    guard let start else { return nil }
    return String(
      decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
