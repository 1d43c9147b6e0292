import Evidence
import Preferences

/// What is asked of the index of evidence; each answer is as `EvidenceReader` tells.
public protocol EvidenceSource: Sendable {
  func timeline(
    user: String, before: EvidenceCursor?, limit: Int
  ) throws(StoreError) -> EvidencePage
  func device(
    _ id: String, before: EvidenceCursor?, limit: Int
  ) throws(StoreError) -> EvidencePage
  func notification(
    _ id: String, user: String?, limit: Int
  ) throws(StoreError) -> EvidenceNotification?
  func outcomes(fromMs: Int64, toMs: Int64) throws(StoreError) -> [OutcomeCount]
  func holdsDue(fromMs: Int64, toMs: Int64) throws(StoreError) -> [HoldsDue]
  func lag() throws(StoreError) -> EvidenceLag
  func selfTests(limit: Int) throws(StoreError) -> [SelfTestRun]
}

extension EvidenceReader: EvidenceSource {}
