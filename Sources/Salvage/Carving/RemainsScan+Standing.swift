extension RemainsScan {
  /// What a row without a key is by the rows that its page holds.
  enum Standing {
    /// An earlier state of one of them, of this one if that is told.
    case earlier(of: Int64?)
    /// It may be an earlier state of one, or be deleted.
    case unsure
  }

  /// What rows without a key are, as far as the rows of their page tell it.
  mutating func standings(
    _ rows: [CarvedRow], _ inferred: [Int64?], in room: DeadRoom, _ bytes: [UInt8]
  ) -> [Int: Standing] {
    var result: [Int: Standing] = [:]
    var other = Record()
    for (index, row) in rows.enumerated() where inferred[index] == nil {
      guard let hint = row.hint, record.read(row.payload, 0..<row.payload.count) else { continue }
      let saves = record.integer(2) ?? 0
      var best: (key: Int64, different: Int)?
      var isTold = false
      for place in room.cells where hint.fits(place.key) {
        guard
          let cell = Cell(
            bytes, at: place.range.lowerBound, present: bytes.count, usable: image.usable),
          other.read(bytes, cell.start..<cell.start + cell.local), other.count > 2,
          other.integer(1) == record.integer(1), other.integer(2) ?? 0 > saves
        else { continue }
        // Each save raises Z_OPT: a row that was not saved since has no earlier state.
        let likeness = record.likeness(to: other)
        guard likeness.different < best?.different ?? .max else { continue }
        best = (place.key, likeness.different)
        isTold = likeness.same > 0 && likeness.same >= likeness.different
      }
      guard let best else { continue }
      if isTold {
        result[index] = .earlier(of: best.key)
      } else {
        let canBeDeleted = KeyInference(keys[row.shape]).canBeDeleted(hint, from: room)
        result[index] = canBeDeleted ? .unsure : .earlier(of: nil)
      }
    }
    return result
  }
}
