import JSON
import ManagedModel

/// Which version of the program this is.
package enum ProgramVersion {
  package static let number = "0.1.0"
  package static let date = "2026-11-21"
}

extension Console {
  /// An error for a person on standard error, or for a program on standard output.
  package func report(_ error: CoreDataError, asJSON: Bool) {
    Interruption.waitForEnd()
    guard asJSON else {
      note("strata: \(error.description)")
      if let mark = error.mark { for line in MarkedLines.lines(mark) { note(line) } }
      if let hint = error.typedHint { note(hint) }
      return
    }
    json { $0.error(error) }
  }
}

extension CommandStatus {
  package init(_ kind: CoreDataError.Kind) {
    self =
      switch kind {
      case .usage: .usage
      case .unreadable: .unreadable
      case .incompatible: .no
      case .refused: .refused
      case .failed: .failed
      case .cancelled: .cancelled
      }
  }
}

extension JSONWriter {
  mutating func fields(of error: CoreDataError) {
    fields([
      "code": error.code, "message": error.message, "entity": error.entity,
      "property": error.property, "path": error.path, "hint": error.typedHint,
    ])
  }

  mutating func error(_ error: CoreDataError) {
    object("error") { json in
      json.fields(of: error)
      if let mark = error.mark {
        json.array("range") {
          $0.number(mark.range.lowerBound)
          $0.number(mark.range.upperBound)
        }
      }
    }
  }
}
