import ManagedModel
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
    case .repaired: return self
    }
  }

  /// Whether something is lost or left.
  var isLossy: Bool {
    switch self {
    case .salvaged(let report, _): report.isLossy
    case .restored(let report, _): report.salvage.isLossy || !report.refused.isEmpty
    case .repaired(let receipt): receipt.left.contains { $0.severity == .error }
    }
  }

  /// What was done, in a line.
  var notice: String {
    switch self {
    case .salvaged(let report, _):
      "saved\(report.isLossy ? ", with losses" : ""): "
        + "\(NumberText.counted(report.objects, "object")) in \(report.outputPath)"
    case .restored(let report, _):
      "\(NumberText.counted(report.count, "deleted object")) restored in \(report.salvage.outputPath)"
    case .repaired(let receipt):
      receipt.count == 0 && receipt.orphanFolder == nil
        ? "nothing was there to repair"
        : "repaired and verified: \(NumberText.counted(receipt.count, "change"))"
    }
  }

  /// The lines of the report.
  var lines: [ReceiptView.Line] {
    switch self {
    case .salvaged(let report, let seconds):
      SalvageReportText.lines(report, seconds: seconds)
    case .restored(let report, let seconds): RestorationText.lines(report, seconds: seconds)
    case .repaired(let receipt): RepairReceiptText.lines(receipt)
    }
  }
}

extension Restoration.Report {
  /// Objects that are back.
  var count: Int { restored.values.reduce(0, +) }
}
