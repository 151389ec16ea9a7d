import ManagedModel
import Rescue
import Terminal

/// Which deleted objects are back in a new store, as lines of a receipt.
package enum RestorationText {
  typealias Line = ReceiptView.Line

  static func lines(_ report: Restoration.Report, seconds: Double) -> [Line] {
    var lines = [
      Line(
        sign: report.count > 0 ? "✓" : "!", role: report.count > 0 ? .success : .warning,
        text: "\(NumberText.counted(report.count, "deleted object")) restored in "
          + NumberText.seconds(seconds)),
      Line(text: "the new store  \(report.salvage.outputPath)"),
      Line(role: .dim, text: "the store is as it was  \(report.salvage.storePath)"),
      Line(), Line(role: .columnTitle, text: "restored", numbers: ["objects"]),
    ]
    lines += report.restored.sorted { $0.key < $1.key }.map {
      Line(sign: "+", role: .success, text: $0.key, numbers: [NumberText.grouped($0.value)])
    }
    if report.links > 0 {
      lines.append(Line(text: "links between objects", numbers: [NumberText.grouped(report.links)]))
    }
    lines += hints(report).map { Line(sign: "·", role: .dim, text: $0) }
    let shortcomings =
      [uncertainty(report)].compactMap { $0 }
      + report.refused.sorted { $0.key < $1.key }.map { entity, keys in
        let first = keys.prefix(5).map { "p\($0)" }.joined(separator: ", ")
        return
          "\(entity): \(NumberText.grouped(keys.count)) left out, because an object with their unique values or key exists: \(first)\(keys.count > 5 ? " …" : "")"
      }
      + report.emptied.sorted { $0.key < $1.key }.map {
        "\($0.key) of \(NumberText.grouped($0.value)) is empty now: the object that it referenced is missing"
      }
    if !shortcomings.isEmpty {
      lines.append(Line())
      lines += shortcomings.map { Line(sign: "!", role: .warning, text: $0) }
    }
    if !report.first.isEmpty {
      lines += [
        Line(), Line(role: .columnTitle, text: "the first of them, and where they were found"),
      ]
      lines += report.first.prefix(50).map {
        Line(text: "\($0.id)  key \($0.origin.certainty.rawValue), \($0.origin.place)")
      }
    }
    // What is said of the rest of the store, without its first lines.
    let rest = SalvageReportText.lines(report.salvage, seconds: seconds)
    let start = rest.firstIndex(of: Line()) ?? rest.count
    return lines + rest[start...]
  }

  /// The number of restored objects that may have been lost instead of deleted, as a sentence without its full
  /// stop; `nil` for none.
  package static func uncertainty(_ report: Restoration.Report) -> String? {
    guard report.uncertain > 0 else { return nil }
    return
      "\(NumberText.grouped(report.uncertain)) of them may have been lost instead of deleted, and \(report.uncertain == 1 ? "was" : "were") restored in a state that may be an earlier one"
  }

  /// What a person should know of the links of objects that are back, as sentences.
  package static func hints(_ report: Restoration.Report) -> [String] {
    var hints: [String] = []
    if report.freedLinks > 0 {
      hints.append(
        "\(NumberText.counted(report.freedLinks, "more link")) \(report.freedLinks == 1 ? "was" : "were") found where rows were deleted, and \(report.freedLinks == 1 ? "is" : "are") back, too: a link that the app removed earlier looks the same."
      )
    }
    if !report.unset.isEmpty {
      let names = report.unset.prefix(6).joined(separator: ", ")
      hints.append(
        "References to them from other objects (\(names)\(report.unset.count > 6 ? " …" : "")) were emptied when they were deleted: which objects had any is not known."
      )
    }
    return hints
  }
}
