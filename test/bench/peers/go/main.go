// Measures Debian's golang-github-cenkalti-backoff-dev: main WORKLOAD [--quick]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"sort"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff"
)

const waitsOfOperation = 5

var (
	failure     = errors.New("failure")
	repetitions = 5
	callsInARow = 200_000
)

type figures map[string]interface{}

func main() {
	workloads := map[string]func() figures{
		"first_try":   func() figures { return sequential(firstTry) },
		"zero_delay":  func() figures { return sequential(zeroDelay) },
		"storm_1k":    func() figures { return storm(1_000, repetitions) },
		"storm_100k":  func() figures { return storm(100_000, 1) },
		"storm_1m":    func() figures { return storm(1_000_000, 1) },
		"cancel_100k": func() figures { return cancel(100_000) },
		"cancel_1m":   func() figures { return cancel(1_000_000) },
	}
	if len(os.Args) < 2 || workloads[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: main WORKLOAD [--quick]")
		os.Exit(2)
	}
	if len(os.Args) > 2 && os.Args[2] == "--quick" {
		repetitions, callsInARow = 1, 20_000
	}
	result := workloads[os.Args[1]]()
	result["workload"] = os.Args[1]
	result["contender"] = "Go cenkalti/backoff"
	line, _ := json.Marshal(result)
	fmt.Println(string(line))
}

// A BackOff keeps state and is not safe to share: each operation makes its own, as in the package's examples.
func firstTry() {
	backoff.Retry(func() error { return nil }, backoff.NewExponentialBackOff())
}

func zeroDelay() {
	failures := 0
	backoff.Retry(func() error {
		if failures == 3 {
			return nil
		}
		failures++
		return failure
	}, &backoff.ZeroBackOff{})
}

func sequential(operation func()) figures {
	var cpu []float64
	var allocations float64
	for i := 0; i <= repetitions; i++ {
		runtime.GC()
		begin := usageNow()
		for j := 0; j < callsInARow; j++ {
			operation()
		}
		used := begin.untilNow()
		allocations = float64(used.allocations) / float64(callsInARow)
		if i > 0 { // the first is the warm-up
			cpu = append(cpu, float64(used.cpu)/float64(callsInARow))
		}
	}
	return figures{"cpu_ns": median(cpu), "allocations": allocations}
}

type fullJitter struct {
	drawn int
	due   time.Time
}

func (b *fullJitter) Reset() { b.drawn = 0 }

func (b *fullJitter) NextBackOff() time.Duration {
	ceiling := 10 * time.Millisecond << b.drawn
	if ceiling > time.Second {
		ceiling = time.Second
	}
	b.drawn++
	delay := time.Duration(rand.Int63n(int64(ceiling) + 1))
	b.due = time.Now().Add(delay)
	return delay
}

func stormOperation(late []time.Duration) {
	jitter := &fullJitter{}
	backoff.Retry(func() error {
		if jitter.drawn > 0 {
			late[jitter.drawn-1] = time.Since(jitter.due)
		}
		if jitter.drawn == waitsOfOperation {
			return nil
		}
		return failure
	}, jitter)
}

func runStorm(late []time.Duration) {
	var running sync.WaitGroup
	for ; len(late) > 0; late = late[waitsOfOperation:] {
		running.Add(1)
		go func(own []time.Duration) {
			defer running.Done()
			stormOperation(own)
		}(late[:waitsOfOperation])
	}
	running.Wait()
}

func storm(count, repetitions int) figures {
	runStorm(make([]time.Duration, 1_000*waitsOfOperation))
	waits := count * waitsOfOperation
	all := make([]time.Duration, repetitions*waits)
	var cpu []float64
	var allocations float64
	for i := 0; i < repetitions; i++ {
		late := all[i*waits : (i+1)*waits]
		runtime.GC()
		begin := usageNow()
		runStorm(late)
		used := begin.untilNow()
		allocations = float64(used.allocations) / float64(count)
		cpu = append(cpu, float64(used.cpu)/float64(waits))
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	return figures{
		"cpu_ns":      median(cpu),
		"allocations": allocations,
		"late_p50_us": all[len(all)/2].Microseconds(),
		"late_p99_us": all[len(all)/100*99].Microseconds(),
		"late_max_us": all[len(all)-1].Microseconds(),
	}
}

type anHour struct{ waiting *sync.WaitGroup }

func (b anHour) Reset() {}

func (b anHour) NextBackOff() time.Duration {
	b.waiting.Done()
	return time.Hour
}

func cancel(count int) figures {
	cancels := make([]context.CancelFunc, count)
	var waiting, running sync.WaitGroup
	waiting.Add(count)
	running.Add(count)
	memory, begin := memoryInUse(), usageNow()
	for i := range cancels {
		var ctx context.Context
		ctx, cancels[i] = context.WithCancel(context.Background())
		go func() {
			defer running.Done()
			backoff.Retry(func() error { return failure }, backoff.WithContext(anHour{&waiting}, ctx))
		}()
	}
	waiting.Wait()
	time.Sleep(100 * time.Millisecond) // the last ones have drawn their delay, but not yet begun to wait
	allocations := begin.untilNow().allocations
	bytes := memoryInUse() - memory

	begin = usageNow()
	for _, cancelOne := range cancels {
		cancelOne()
	}
	running.Wait()
	return figures{
		"cpu_ns":      float64(begin.untilNow().cpu) / float64(count),
		"allocations": float64(allocations) / float64(count),
		"bytes":       float64(bytes) / float64(count),
	}
}

type usage struct {
	cpu         time.Duration
	allocations uint64
}

func usageNow() usage {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var resources syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &resources)
	return usage{time.Duration(resources.Utime.Nano() + resources.Stime.Nano()), memory.Mallocs}
}

func (begin usage) untilNow() usage {
	now := usageNow()
	return usage{now.cpu - begin.cpu, now.allocations - begin.allocations}
}

func memoryInUse() int64 {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapInuse + memory.StackInuse)
}

func median(values []float64) float64 {
	sort.Float64s(values)
	return values[len(values)/2]
}
