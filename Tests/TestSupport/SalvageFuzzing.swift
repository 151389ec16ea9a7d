import Files
import ManagedModel
import ManagedStore
import Rescue

/// Small stores with mutated pages, logs and journals, for ``Fuzzing``.
///
/// An input is a store of a few pages of 512 or 1,024 bytes, so that many are read in a short time, and each goes through
/// all of reading, doctor, salvage and undelete.
public enum SalvageFuzzing {
  /// Reads whatever can be read of the bytes as a store. What was read last stays in the folder.
  ///
  /// - Parameter folder: where the stores are written; in memory, where there is room, as thousands follow each other.
  public static func target(in folder: TemporaryFolder) throws -> Fuzzing.Target {
    let path = folder.path("hostile.sqlite")
    let model = try PageSample.model()
    let samples = try PageSample.all(in: folder)
    let mutate: Fuzzing.Mutation = { bytes, generator in
      var input = PageInput(bytes)
      for _ in 0..<Int.random(in: 1...4, using: &generator) { input.mutate(using: &generator) }
      // What is right by its own checksums is believed.
      if Bool.random(using: &generator) { input.seal() }
      return input.bytes
    }
    return Fuzzing.Target(
      "pages of a store", corpus: samples.map(\.bytes), mutating: mutate
    ) { bytes in
      let input = PageInput(bytes)
      for kind in PageInput.Companion.allCases { FileSystem.remove(path + kind.suffix) }
      try FileSystem.write(input.main, to: path)
      if let kind = input.kind { try FileSystem.write(input.companion, to: path + kind.suffix) }
      var failure: (any Error)?
      for work in works(path, folder.path("saved.sqlite"), model, Int(input.choice)) {
        do { try work() } catch { failure = failure ?? error }
      }
      if let failure { throw failure }
    }
  }

  /// What a store goes through; each goes on whatever the others say.
  private static func works(
    _ path: String, _ output: String, _ model: Model, _ choice: Int
  ) -> [() throws -> Void] {
    func saving(_ body: () throws -> Void) rethrows {
      defer { StoreSuffix.removeAll(of: output) }
      try body()
    }
    // A store that lost its model is read with one half of the time.
    let given = choice % 4 < 2 ? model : nil
    return [
      { try look(path) },
      { _ = try Diagnosis(of: path) },
      {
        let undeletion = try Undeletion(of: path, model: given, log: .ownIfFitting)
        guard choice % 2 == 0 else { return }
        try saving { _ = try Restoration(undeletion).run(.all(entity: nil), output: output) }
      },
      {
        var options = StoreSalvage.Options()
        (options.model, options.log, options.tellsPages) = (given, .ownIfFitting, true)
        try saving { _ = try StoreSalvage.run(path: path, output: output, options: options) }
      },
      {
        // Row by row, though pages could be copied.
        guard choice % 3 == 0 else { return }
        let source = try SalvageSource(path: path, log: .ownIfFitting)
        try saving { _ = try SalvagedCopy(of: source, at: output, model: given) }
      },
    ]
  }

  /// What `info` and `dump` do.
  private static func look(_ path: String) throws {
    let store = try Store(path: path)
    _ = try store.counts()
    for table in store.entityTables {
      let cursor = try ObjectCursor(store, entity: table.entity)
      while try cursor.next() != nil {}
    }
    _ = try store.externalData()
  }
}
