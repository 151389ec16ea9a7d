import ManagedModel
import Rescue

extension SalvageReport {
  /// Something to know of what was saved.
  package struct Remark: Sendable, Equatable {
    /// `!` for a loss, `·` for the rest.
    package var sign: String
    /// A sentence.
    package var text: String
  }

  /// What was lost, and what was found otherwise than by its tree, as sentences.
  package var remarks: [Remark] {
    var remarks = tables.flatMap(\.remarks)
    func lose(_ count: Int, _ text: String) {
      guard count > 0 else { return }
      remarks.append(Remark(sign: "!", text: text))
    }
    lose(
      missingPages,
      "The file is cut off: \(NumberText.grouped(missingPages)) pages are not there, and whose they were is not known."
    )
    lose(
      unknownHoles,
      "\(NumberText.grouped(unknownHoles)) pages cannot be read of tables that are not known by name."
    )
    lose(unplaced, "\(NumberText.grouped(unplaced)) rows belong to no table that is known.")
    lose(unreadable, "\(NumberText.grouped(unreadable)) rows could not be read.")
    if isLossy {
      remarks.append(
        Remark(
          sign: "·",
          text:
            "Older states of what is lost may still stand in the file: undelete (u, strata undelete) looks for them."
        ))
    }
    return remarks
  }
}

extension SalvageReport.Table {
  fileprivate var remarks: [SalvageReport.Remark] {
    typealias Remark = SalvageReport.Remark
    let name = (entity ?? name).printable
    var remarks: [Remark] = []
    if guessed > 0 {
      remarks.append(
        Remark(
          sign: "·",
          text:
            "\(NumberText.grouped(guessed)) of \(name) were found by looking: no tree led to their pages."
        ))
    }
    for hole in holes where hole.missing != 0 {
      let lost =
        hole.missing.map { "at most \(NumberText.grouped($0)) lost" } ?? "some may be lost"
      remarks.append(
        Remark(
          sign: "!",
          text:
            "\(name): \(lost) (keys \(hole.text)): the page of the file that they were on cannot be read."
        ))
    }
    if !cut.isEmpty {
      remarks.append(
        Remark(
          sign: "!",
          text: "\(name): of \(NumberText.grouped(cut.count)) a value is lost, and is null now."))
    }
    if !refused.isEmpty {
      remarks.append(
        Remark(
          sign: "!",
          text:
            "\(name): \(NumberText.grouped(refused.count)) were left out, since the table's constraints refuse them."
        ))
    }
    return remarks
  }
}

extension SalvageReport.Hole {
  /// Its keys: `p4920–p4965`.
  fileprivate var text: String {
    let (first, last) = (keys.lowerBound, keys.upperBound)
    return last == first ? "p\(first)" : "p\(first)–" + (last == .max ? "" : "p\(last)")
  }
}
