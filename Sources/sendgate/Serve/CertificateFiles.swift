import Glibc
import Web

/// Where the server's certificate chain and private key are, both in PEM.
struct CertificateFiles: Sendable {
  var certificate: String
  var key: String
  private static let bytesMax = 1 << 20

  func read() throws(CommandFailure) -> HTTPCertificate {
    var status = stat()
    if stat(key, &status) == 0, status.st_mode & 0o077 != 0 {
      throw CommandFailure(
        ExitCode.configuration,
        "serve.tls.key.file \(key) is open to others than its owner: chmod 600 it")
    }
    return HTTPCertificate(
      chain: try Self.text(certificate, "serve.tls.certificate.file"),
      key: try Self.text(key, "serve.tls.key.file"))
  }

  private static func text(_ path: String, _ setting: String) throws(CommandFailure) -> String {
    let bytes = try FileIO.read(path, bytesMax: bytesMax)
    guard let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN ") else {
      throw CommandFailure(ExitCode.configuration, "\(setting) \(path) is no PEM file")
    }
    return text
  }
}
