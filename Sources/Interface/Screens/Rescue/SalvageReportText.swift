import ManagedModel
import Rescue
import Terminal

/// What was saved of a damaged store, as lines of a receipt.
enum SalvageReportText {
  typealias Line = ReceiptView.Line

  static func lines(_ report: SalvageReport, seconds: Double) -> [Line] {
    let objects = NumberText.counted(report.objects, "object")
    let isWhole = report.isWhole
    var lines = [
      Line(
        sign: isWhole ? "✓" : "!", role: isWhole ? .success : .warning,
        text: "\(objects) saved in \(NumberText.seconds(seconds))"
          + (report.isLossy
            ? "; some are lost: see below"
            : isWhole
              ? "; nothing is known to be lost" : "; files that they name are missing: see below")),
      Line(text: "the new store  \(report.outputPath)"),
      Line(
        sign: report.isComplete ? "✓" : "!", role: report.isComplete ? .success : .warning,
        text: report.isComplete
          ? "it opens with the model in it"
          : "Core Data will not open it as it is: see the notes"),
      Line(role: .dim, text: "the damaged store is as it was  \(report.storePath)"),
    ]
    if let log = report.logPath {
      lines.append(Line(role: .dim, text: "read together with  \(log)"))
    }
    lines += [Line(), Line(role: .columnTitle, text: "objects", numbers: ["saved"])]
    lines += report.entities.map {
      Line(text: $0.name, numbers: [NumberText.grouped($0.objects)])
    }
    let remarks = report.remarks
    let losses = remarks.filter { $0.sign == "!" }
    if !losses.isEmpty {
      lines += [Line(), Line(role: .columnTitle, text: "lost")]
      lines += losses.map { Line(sign: $0.sign, role: .warning, text: $0.text) }
    }
    let notes =
      remarks.filter { $0.sign != "!" }.map(\.text) + report.notes
    if !notes.isEmpty {
      lines += [Line(), Line(role: .columnTitle, text: "notes")]
      lines += notes.map { Line(sign: "·", role: .dim, text: $0) }
    }
    return lines
  }
}
