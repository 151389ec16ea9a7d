import ManagedModel
import Reports
import Rescue

extension RescueReceipt {
  /// With the name that the person gave the store.
  func of(_ path: String) -> RescueReceipt {
    switch self {
    case .salvaged(var report, let seconds):
      report.storePath = path
      return .salvaged(report, seconds: seconds)
    case .restored(var report, let seconds):
      report.salvage.storePath = path
      return .restored(report, seconds: seconds)
    case .repaired, .edited: return self
    }
  }

  /// Whether something is lost or left.
  var isLossy: Bool {
    switch self {
    case .salvaged(let report, _): report.isLossy
    case .restored(let report, _): report.isLossy
    case .repaired(let receipt): receipt.left.contains { $0.severity == .error }
    case .edited: false
    }
  }

  /// What was done, in a line.
  var notice: String {
    switch self {
    case .salvaged(let report, _):
      "saved\(report.lacksRows ? ", with losses" : report.isLossy ? ", perhaps not all" : ""): "
        + "\(NumberText.counted(report.objects, "object")) in \(report.outputPath)"
    case .restored(let report, _):
      "\(NumberText.counted(report.count, "deleted object")) restored in \(report.salvage.outputPath)"
    case .repaired(let receipt):
      receipt.count == 0 && receipt.orphanFolder == nil
        ? "nothing was there to repair"
        : "repaired and verified: \(NumberText.counted(receipt.count, "change"))"
    case .edited(let receipt):
      receipt.isNothing
        ? "nothing to write: the store already has these values"
        : "written and verified: \(NumberText.counted(receipt.changed, "object")) changed, \(NumberText.grouped(receipt.deleted)) deleted; b on 4 rolls back"
    }
  }

  /// What was done, as lines.
  package var report: Report {
    switch self {
    case .salvaged(let report, let seconds): Report(report, seconds: seconds)
    case .restored(let report, let seconds): Report(report, seconds: seconds)
    case .repaired(let receipt): Report(receipt)
    case .edited(let receipt): Report(receipt)
    }
  }
}
