package work_test
import ("testing";"fmt";"os";"onefold/internal/work/statedoc")
func TestZZ(t *testing.T){ f,_:=os.Create("/tmp/report5/rows"); for _,d:=range statedoc.Derive(){ if d.Event=="report"{fmt.Fprintln(f, from(d.From)+" | "+d.Event+" | "+d.When+" | "+d.Result())}}}
