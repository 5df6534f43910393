# A real Slurm on this machine, for tests: a controller and N nodes of one CPU,
# all of them processes of ours in a folder of ours; sourced. Needs root, for each
# node gets a mount namespace of its own.

slurm_missing() { # prints what is missing; succeeds when something is
	for program in slurmctld slurmd sbatch scontrol munged unshare; do
		command -v $program >/dev/null || { echo "no $program (Debian: slurmctld slurmd slurm-client munge)"; return 0; }
	done
	[ "$(id -u)" = 0 ] || { echo "not root"; return 0; }
	unshare --mount --propagation private mount -t tmpfs none /mnt 2>/dev/null || { echo "no mount namespaces here"; return 0; }
	return 1
}

slurm_munge() { # a daemon of our own, with a key of our own
	export MUNGE_SOCKET=$slurm/munge.socket
	dd if=/dev/urandom of="$slurm/munge.key" bs=128 count=1 2>/dev/null
	chmod 400 "$slurm/munge.key"
	munged --force --foreground --key-file="$slurm/munge.key" --socket="$MUNGE_SOCKET" \
		--pid-file="$slurm/munged.pid" --log-file="$slurm/munged.log" --seed-file="$slurm/munge.seed" \
		>"$slurm/munged.out" 2>&1 </dev/null &
	echo $! >"$slurm/pid.munged"
	wait_until test -S "$MUNGE_SOCKET"
}

slurm_free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

slurm_configure() { # NODES
	cat >"$SLURM_CONF" <<-C
		ClusterName=marq
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmctldPort=$(slurm_free_port)
		AuthType=auth/munge
		AuthInfo=socket=$MUNGE_SOCKET
		SlurmUser=root
		SlurmdUser=root
		StateSaveLocation=$slurm/state
		SlurmdSpoolDir=$slurm/spool.%n
		SlurmctldPidFile=$slurm/slurmctld.pid
		SlurmdPidFile=$slurm/slurmd-%n.pid
		SlurmctldLogFile=$slurm/slurmctld.log
		SlurmdLogFile=$slurm/slurmd-%n.log
		MailProg=/bin/true
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		MpiDefault=none
		SwitchType=switch/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SchedulerType=sched/backfill
		SchedulerParameters=sched_min_interval=2,bf_interval=2
		ReturnToService=2
		SlurmdTimeout=300
		SlurmctldTimeout=300
		BatchStartTimeout=300
		MessageTimeout=60
		KillWait=5
		MinJobAge=3600
		MaxArraySize=1001
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SlurmdParameters=config_overrides
		PropagateResourceLimits=NONE
	C
	for i in $(seq "$1"); do
		mkdir -p "$slurm/spool.n$i"
		echo "NodeName=n$i NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$(slurm_free_port) CPUs=1 RealMemory=500"
	done >>"$SLURM_CONF"
	echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO" >>"$SLURM_CONF"
	# whatever this machine has at /sys/fs/cgroup, nodes see an empty folder
	case $(slurmd -V) in
	*' 22.'* | *' 23.02'*) echo CgroupPlugin=cgroup/v1 ;;
	*) echo CgroupPlugin=disabled ;;
	esac >"$slurm/cgroup.conf"
}

slurm_controller() {
	setsid slurmctld -D -f "$SLURM_CONF" >"$slurm/slurmctld.out" 2>&1 </dev/null &
	echo $! >"$slurm/pid.slurmctld"
	wait_until sh -c 'scontrol ping 2>/dev/null | grep -q UP'
}

slurm_node() { # NAME
	setsid unshare --mount --propagation private sh -c \
		"mount -t tmpfs none /sys/fs/cgroup; exec slurmd -D -N $1 -f $SLURM_CONF" \
		>"$slurm/$1.out" 2>&1 </dev/null &
	echo $! >"$slurm/pid.$1"
}

slurm_idle() { # NODES: so many are
	[ "$(sinfo -h -t idle -N 2>/dev/null | wc -l)" = "$1" ]
}

slurm_up() { # FOLDER NODES
	slurm=$1
	export SLURM_CONF="$slurm/slurm.conf"
	mkdir -p "$slurm/state"
	slurm_munge && slurm_configure "$2" && slurm_controller || return 1
	for i in $(seq "$2"); do
		slurm_node "n$i"
	done
	wait_until slurm_idle "$2"
}

slurm_descendants() { # PID...: it, and all below it
	for parent in "$@"; do
		echo "$parent"
		children=$(cat /proc/"$parent"/task/*/children 2>/dev/null) || :
		[ -z "$children" ] || slurm_descendants $children
	done
}

slurm_jobs_of() { # NODE: processes of its jobs, wherever they are, and their steps
	for file in $(grep -lsxz "SLURM_CONF=$SLURM_CONF" $(grep -lsxz "SLURMD_NODENAME=$1" /proc/[0-9]*/environ) /dev/null); do
		folder=${file%/environ}
		echo "${folder#/proc/}"
		parent=$(sed -n 's/^PPid:[[:space:]]*//p' "$folder/status" 2>/dev/null)
		case $(cat "/proc/$parent/comm" 2>/dev/null) in slurmstepd*) echo "$parent" ;; esac
	done
}

slurm_kill_node() { # NAME: all of it at once, as by a power cut
	for pid in $(slurm_descendants "$(cat "$slurm/pid.$1")") $(slurm_jobs_of "$1"); do
		kill -9 "$pid" 2>/dev/null || :
	done
}

slurm_down() {
	for node in 1 2 3 4 5 6 7 8; do
		[ ! -f "$slurm/pid.n$node" ] || slurm_kill_node "n$node"
	done
	for file in "$slurm"/pid.slurmctld "$slurm"/pid.munged; do
		[ -f "$file" ] || continue
		for pid in $(slurm_descendants "$(cat "$file")"); do
			kill -9 "$pid" 2>/dev/null || :
		done
	done
}
