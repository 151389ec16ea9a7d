/// Work measured by the processor time of the thread that does it: what else the machine does hardly
/// changes it. What a virtual machine takes away is in it all the same, so that what takes too long is
/// tried again.
public enum ProcessorTime {
  /// Seconds that the work takes.
  public static func seconds(_ work: () throws -> Void) rethrows -> Double {
    let start = Fuzzing.processorTime()
    try work()
    return Fuzzing.processorTime() - start
  }

  /// The same, the least of as many tries as it takes to be less than a limit, at most five.
  public static func seconds(limit: Double, _ work: () throws -> Void) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<5 where least >= limit { least = min(least, try seconds(work)) }
    return least
  }

  /// How many times as long the work takes on an input that is four times as large: about 4 where the
  /// time is proportional to the size, 16 where it is to the square.
  ///
  /// The least of all measurements counts for each size: of as many as it takes to be less than 6, at most
  /// nine. Times that are too short to be compared count as proportional.
  public static func growth<Input>(
    from size: Int, of input: (Int) -> Input, _ work: (Input) throws -> Void
  ) rethrows -> Double {
    let inputs = (input(size), input(4 * size))
    var (small, large) = (Double.infinity, Double.infinity)
    var growth: Double { large < 0.02 ? 4 : large / max(small, 0.000_1) }
    for round in 0..<9 where round == 0 || growth >= 6 {
      small = min(small, try seconds { try work(inputs.0) })
      large = min(large, try seconds { try work(inputs.1) })
    }
    return growth
  }
}
