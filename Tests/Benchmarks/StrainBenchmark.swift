#if os(Linux)
  import TestSupport

  /// Every system call of every command that changes a store, killed and failing.
  enum StrainBenchmark {
    /// - Parameter words: each how many-th fault is tried (all without it), and the commands.
    static func run(_ words: [String]) throws {
      guard Built.faultShim != nil else { throw FixtureError.missing("libFaultShim.so") }
      let step = words.first.flatMap { Int($0) } ?? 1
      let named = words.compactMap(StrainScene.Work.init)
      var total = Strain.Tally()
      var findings = 0
      for work in named.isEmpty ? StrainScene.Work.allCases : named {
        for (hasLog, hasExternal) in [(false, false), (true, false), (false, true), (true, true)] {
          var strain = Strain(
            try StrainScene(work, hasLog: hasLog, hasExternal: hasExternal))
          let start = Fuzzing.now()
          for (number, fault) in strain.faults.enumerated() where number % max(step, 1) == 0 {
            try strain.run(fault)
          }
          // One of a kind is told in full.
          for (what, all) in Dictionary(grouping: strain.findings, by: \.what)
            .sorted(by: { $0.key < $1.key })
          {
            print("  ! \(what), \(all.count) times")
            for finding in all.prefix(3) { print("      \(finding.at)") }
            if let said = all.first?.said { print("      it said: \(said)") }
          }
          print(
            "\(strain.scene.name): \(strain.scene.calls.count) calls, \(text(strain.tally)), "
              + "\(strain.findings.count) findings, \(Int(Fuzzing.now() - start)) s")
          total += strain.tally
          findings += strain.findings.count
        }
      }
      print("\(text(total)), \(findings) findings")
    }

    private static func text(_ tally: Strain.Tally) -> String {
      "\(tally.runs) faults: \(tally.old) old, \(tally.new) new, \(tally.between) between "
        + "(\(tally.recovered) recovered by a look)"
    }
  }
#endif
